// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/values"
)

// A configurer makes apply configurations that expressions could construct.
type configurer struct {
	*choices
	types *schema.Schema
	// view is the object as expressions read it.
	view traits.Mapper
}

// configuration returns an apply configuration with a part of the fields of an object.
func (c *choices) configuration(types *schema.Schema, typeName string, object, from runtime.Object) *constructed.Object {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		fields = map[string]any{}
	}
	view, _ := values.Of(object).(traits.Mapper)
	made := &configurer{c, types, view}
	return made.object("Object", fields, schema.TypeRef{NamedType: &typeName})
}

// object returns a constructed object with a part of the fields.
func (c *configurer) object(path string, fields map[string]any, t schema.TypeRef) *constructed.Object {
	made := c.part(path, fields, t)
	if c.one(100) {
		path += "x"
	}
	return constructed.New(types.NewObjectType(path), made)
}

// part returns the values of some fields of an object or a map.
func (c *configurer) part(path string, fields map[string]any, t schema.TypeRef) map[string]ref.Val {
	atom, _ := c.types.Resolve(t)
	made := map[string]ref.Val{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := t
		if atom.Map != nil {
			field = atom.Map.ElementType
			if declared, ok := atom.Map.FindField(name); ok {
				field = declared.Type
			}
		}
		switch {
		case name == "name" || name == "key" || strings.Contains(path, ".spec") && c.n(3) > 0:
		case c.n(3) == 0:
			continue
		}
		if c.isAtomic(field, fields[name]) && c.n(30) > 0 {
			continue
		}
		made[name] = c.value(path+"."+name, fields[name], field)
	}
	if c.one(60) {
		made[of(c.choices, "unknown", "spec", "data", "a")] = c.strange()
	}
	if read := of(c.choices, "spec", "data", "metadata", "rules"); c.view != nil && path == "Object" && c.one(30) {
		if field, found := c.view.Find(types.String(read)); found {
			made[read] = field
		}
	}
	return made
}

// isAtomic reports whether a value is an atomic list or map, or an empty one, which Merge does not
// support.
func (c *configurer) isAtomic(t schema.TypeRef, v any) bool {
	atom, _ := c.types.Resolve(t)
	switch v := v.(type) {
	case []any:
		return len(v) == 0 || atom.List != nil && atom.List.ElementRelationship == schema.Atomic
	case map[string]any:
		return len(v) == 0 || atom.Map != nil && atom.Map.ElementRelationship == schema.Atomic
	}
	return v == nil
}

// value returns a value in the form of a constructor, a literal or a part of the request.
func (c *configurer) value(path string, v any, t schema.TypeRef) ref.Val {
	if c.one(100) {
		return c.strange()
	}
	if c.one(60) {
		return types.DefaultTypeAdapter.NativeToValue(v)
	}
	switch v := v.(type) {
	case map[string]any:
		if !c.one(16) {
			return c.object(path, v, t)
		}
		entries := map[ref.Val]ref.Val{}
		for name, entry := range c.part(path, v, t) {
			entries[types.String(name)] = entry
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, entries)
	case []any:
		return types.NewRefValList(types.DefaultTypeAdapter, c.elements(path, v, t))
	case string:
		if c.one(4) {
			return types.String(of(c.choices, words...))
		}
	case int64:
		if c.one(4) {
			return types.Int(c.n(6))
		}
	case bool:
		if c.one(4) {
			return types.Bool(!v)
		}
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

func (c *configurer) elements(path string, list []any, t schema.TypeRef) []ref.Val {
	element := t
	if atom, _ := c.types.Resolve(t); atom.List != nil {
		element = atom.List.ElementType
	}
	var made []ref.Val
	for _, v := range list {
		if c.one(4) {
			continue
		}
		made = append(made, c.value(path, v, element))
		if c.one(30) {
			made = append(made, made[len(made)-1])
		}
	}
	if c.one(8) {
		slices.Reverse(made)
	}
	return made
}

// strange returns a value that most schemas do not allow.
func (c *configurer) strange() ref.Val {
	return of[ref.Val](c.choices, types.NullValue, types.String("a"), types.Int(-1), types.Int(1<<40), types.Double(1.5), types.Double(2), types.Uint(3), types.Bool(true), types.Bytes("a"),
		types.Duration{Duration: time.Second}, types.Timestamp{Time: time.Unix(1, 0)}, types.OptionalOf(types.Int(1)), types.OptionalNone,
		types.NewRefValList(types.DefaultTypeAdapter, nil), types.NewRefValMap(types.DefaultTypeAdapter, nil),
		types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{types.String("a")})}),
		types.DefaultTypeAdapter.NativeToValue(map[string]any{"a": "b"}), types.DefaultTypeAdapter.NativeToValue([]any{"a", "b"}), types.DefaultTypeAdapter.NativeToValue([]string{"a"}))
}

// describe returns the text of a value.
func describe(v ref.Val) string {
	switch v := v.(type) {
	case *constructed.Object:
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(v.Fields())) {
			fields = append(fields, name+": "+describe(v.Fields()[name]))
		}
		return v.TypeName() + "{" + strings.Join(fields, ", ") + "}"
	case traits.Lister:
		if elements, literal := v.Value().([]ref.Val); literal {
			var texts []string
			for _, element := range elements {
				texts = append(texts, describe(element))
			}
			return "[" + strings.Join(texts, ", ") + "]"
		}
	case traits.Mapper:
		if entries, literal := v.Value().(map[ref.Val]ref.Val); literal {
			var texts []string
			for key, entry := range entries {
				texts = append(texts, describe(key)+": "+describe(entry))
			}
			slices.Sort(texts)
			return "{" + strings.Join(texts, ", ") + "}"
		}
	}
	return fmt.Sprintf("%T(%v)", v, v.Value())
}

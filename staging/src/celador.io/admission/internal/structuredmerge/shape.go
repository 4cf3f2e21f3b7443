// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// A shape describes how values of a schema merge into a Go type. Schemas and types are resolved
// once, so that the time of a merge depends on the size of the configuration only. A field for one
// kind of values, such as list, is nil if Merge does not support these values here, for example
// because their schema is atomic. Immutable.
type shape struct {
	// pointed is the shape of the target. It is set for pointer types, which have no other part.
	pointed *shape
	// fields holds the fields of a struct by their JSON names.
	fields map[string]fieldShape
	// entries is the shape of the values of a map with string keys.
	entries *shape
	// list holds the elements of a set or of a list with keys.
	list *listShape
	// scalar holds the type of scalars.
	scalar *scalarShape
}

// A fieldShape is the shape of a struct field.
type fieldShape struct {
	// index is the argument of reflect.Value.FieldByIndex.
	index []int
	*shape
}

// A listShape is the shape of an associative list.
type listShape struct {
	// keys holds the merge keys. A set has none.
	keys    []keyShape
	element *shape
}

// A keyShape is a merge key of a list.
type keyShape struct {
	name  string
	index []int
}

// A scalarShape is the shape of a scalar.
type scalarShape struct {
	schema.Scalar
	// plain is set if values of the Go type are encoded like those of its kind, such as string,
	// because the type has no JSON methods of its own. Merge can then assign them directly.
	plain bool
}

// A Shape describes how apply configurations merge into the objects of a Go type. Immutable.
type Shape struct {
	schema *schema.Schema
	kind   string
	shape
}

// Shapes builds the shape of each Go type once, unless its schema changes. The zero value is ready
// for use. Safe for concurrent use.
type Shapes struct{ latest sync.Map } // of *Shape by reflect.Type

// Of returns the shape of an object by the schema of a converter. It returns nil for custom
// resources, and for objects that do not fit the schema.
func (s *Shapes) Of(object runtime.Object, converter managedfields.TypeConverter) *Shape {
	if _, custom := object.(*unstructured.Unstructured); custom {
		return nil
	}
	valid, err := converter.ObjectToTyped(object, typed.AllowDuplicates)
	if err != nil {
		return nil
	}
	name := valid.TypeRef().NamedType
	if name == nil {
		return nil
	}
	t := reflect.TypeOf(object).Elem()
	if known, ok := s.latest.Load(t); ok {
		if known := known.(*Shape); known.schema == valid.Schema() && known.kind == *name {
			return known
		}
	}
	b := &shapeBuilder{valid.Schema(), map[shapeKey]*shape{}}
	built := &Shape{valid.Schema(), *name, *b.build(t, valid.TypeRef())}
	s.latest.Store(t, built)
	return built
}

// A shapeBuilder builds the shapes of one schema.
type shapeBuilder struct {
	schema *schema.Schema
	known  map[shapeKey]*shape
}

// A shapeKey identifies a Go type with a named type of the schema. Shapes are cached by it, unless
// the reference to the named type overrides parts of it.
type shapeKey struct {
	reflect.Type
	name string
}

// build returns the shape of a Go type whose values have the schema ref. It stores the shape of a
// named type in b.known before the shape is complete, because a type may contain itself.
func (b *shapeBuilder) build(t reflect.Type, ref schema.TypeRef) *shape {
	s := &shape{}
	if ref.NamedType != nil && ref.ElementRelationship == nil {
		key := shapeKey{t, *ref.NamedType}
		if known := b.known[key]; known != nil {
			return known
		}
		b.known[key] = s
	}
	if t.Kind() == reflect.Pointer {
		s.pointed = b.build(t.Elem(), ref)
		return s
	}
	atom, ok := b.schema.Resolve(ref)
	if !ok {
		return s
	}
	plain := !hasCustomJSON(t)
	if atom.Scalar != nil {
		s.scalar = &scalarShape{*atom.Scalar, plain}
	}
	if atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic && plain {
		switch {
		case t.Kind() == reflect.Struct:
			s.fields = b.fields(t, atom.Map)
		case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && len(atom.Map.Fields) == 0:
			s.entries = b.build(t.Elem(), atom.Map.ElementType)
		}
	}
	if atom.List != nil && atom.List.ElementRelationship == schema.Associative && t.Kind() == reflect.Slice {
		s.list = b.list(t, atom.List)
	}
	return s
}

func (b *shapeBuilder) fields(t reflect.Type, of *schema.Map) map[string]fieldShape {
	indexes, ok := jsonFields(t)
	if !ok {
		return nil
	}
	fields := make(map[string]fieldShape, len(indexes))
	for name, index := range indexes {
		if described, ok := of.FindField(name); ok {
			fields[name] = fieldShape{index, b.build(t.FieldByIndex(index).Type, described.Type)}
		}
	}
	return fields
}

// list returns the shape of a list that is merged by keys or as a set. It returns nil, so that
// Merge does not support the list, if the elements have a JSON encoding of their own or lack a
// field for a key.
func (b *shapeBuilder) list(t reflect.Type, of *schema.List) *listShape {
	s := &listShape{element: b.build(t.Elem(), of.ElementType)}
	if hasCustomJSON(t.Elem()) {
		return nil
	}
	for _, name := range of.Keys {
		field, known := s.element.fields[name]
		if !known {
			return nil
		}
		s.keys = append(s.keys, keyShape{name, field.index})
	}
	return s
}

// jsonFields returns the indexes of the fields of a struct type by their JSON names, including the
// fields of inlined structs. It returns false if the type inlines a pointer, whose target a copy of
// the struct would share.
func jsonFields(t reflect.Type) (map[string][]int, bool) {
	fields := map[string][]int{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		inlined := name == "" && (field.Anonymous || strings.Contains(options, "inline"))
		switch {
		case name == "-" || !field.IsExported():
		case inlined && field.Type.Kind() == reflect.Struct:
			below, ok := jsonFields(field.Type)
			if !ok {
				return nil, false
			}
			for name, index := range below {
				fields[name] = append([]int{i}, index...)
			}
		case inlined:
			return nil, false
		default:
			if name == "" {
				name = field.Name
			}
			fields[name] = []int{i}
		}
	}
	return fields, true
}

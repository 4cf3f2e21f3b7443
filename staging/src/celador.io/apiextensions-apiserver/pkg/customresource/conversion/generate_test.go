// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// A generator makes schemas, objects and rules. Equal seeds make equal ones.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 18))} }

func (g generator) pick(texts ...string) string { return texts[g.IntN(len(texts))] }

// schema returns the schema of an object with a spec.
func (g generator) schema() *structuralschema.Structural {
	root := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{}}
	root.Properties["spec"] = g.object(3)
	if g.IntN(2) == 0 {
		root.Properties["status"] = g.value(2)
	}
	return &root
}

var fieldNames = []string{"a", "b", "c", "long-name", "namespace", "in", "e.f"}

func (g generator) object(depth int) structuralschema.Structural {
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{}}
	for range 1 + g.IntN(4) {
		s.Properties[g.pick(fieldNames...)] = g.value(depth - 1)
	}
	return s
}

func (g generator) value(depth int) structuralschema.Structural {
	kinds := 12
	if depth <= 0 {
		kinds = 6
	}
	var s structuralschema.Structural
	switch g.IntN(kinds) {
	case 0:
		s.Type = "string"
	case 1:
		s.Type = "integer"
	case 2:
		s.Type = "number"
	case 3:
		s.Type = "boolean"
	case 4:
		s.XIntOrString = true
	case 5:
		s.XPreserveUnknownFields = true
	case 6:
		items := g.value(depth - 1)
		s.Type, s.Items = "array", &items
	case 7:
		values := g.value(depth - 1)
		s.Type, s.AdditionalProperties = "object", &structuralschema.StructuralOrBool{Structural: &values}
	case 8:
		s = g.object(depth)
	case 9:
		s.Type, s.XPreserveUnknownFields = "object", true
	case 10:
		s = g.object(depth)
		s.XPreserveUnknownFields = true
	case 11:
		items := g.object(depth)
		items.Properties["key"] = structuralschema.Structural{Generic: structuralschema.Generic{Type: g.pick("string", "integer")}}
		items.ValueValidation = &structuralschema.ValueValidation{Required: []string{"key"}}
		listType := "map"
		s.Type, s.Items, s.XListType, s.XListMapKeys = "array", &items, &listType, []string{"key"}
	}
	s.Nullable = g.IntN(6) == 0
	return s
}

// mutate returns a schema that differs in some fields.
func (g generator) mutate(s *structuralschema.Structural) *structuralschema.Structural {
	s = s.DeepCopy()
	g.mutateFields(s)
	return s
}

func (g generator) mutateFields(s *structuralschema.Structural) {
	if s.Items != nil {
		g.mutateFields(s.Items)
	}
	if s.AdditionalProperties != nil {
		g.mutateFields(s.AdditionalProperties.Structural)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		field := s.Properties[name]
		switch g.IntN(12) {
		case 0:
			delete(s.Properties, name)
			s.Properties[name+"2"] = field
		case 1:
			s.Properties[name] = g.value(1)
		case 2:
			s.Properties[name] = structuralschema.Structural{Extensions: structuralschema.Extensions{XPreserveUnknownFields: true}}
		default:
			g.mutateFields(&field)
			s.Properties[name] = field
		}
	}
}

// unstructured returns a value of a schema. Some fields are missing, and some have values that the
// schema does not allow if malformed is set.
func (g generator) unstructured(s *structuralschema.Structural, malformed bool) any {
	if s.Nullable && g.IntN(3) == 0 {
		return nil
	}
	if malformed && g.IntN(10) == 0 {
		return []any{nil, "x", int64(1), []any{"y"}, map[string]any{"a": "z"}}[g.IntN(5)]
	}
	switch {
	case s.XIntOrString:
		return []any{"80%", int64(80)}[g.IntN(2)]
	case s.Items != nil:
		items := make([]any, g.IntN(4))
		for i := range items {
			items[i] = g.unstructured(s.Items, malformed)
			if item, ok := items[i].(map[string]any); ok && len(s.XListMapKeys) > 0 && !malformed {
				if item["key"] = any(int64(i)); s.Items.Properties["key"].Type == "string" {
					item["key"] = fmt.Sprint(i)
				}
			}
		}
		return items
	case s.Type == "":
		return g.json(2)
	case s.AdditionalProperties != nil:
		values := map[string]any{}
		for range g.IntN(3) {
			values[g.pick("x", "y", "a.b")] = g.unstructured(s.AdditionalProperties.Structural, malformed)
		}
		return values
	}
	switch s.Type {
	case "string":
		return g.pick("", "a", "true", "12", "ü")
	case "integer":
		return int64(g.IntN(100) - 50)
	case "number":
		return float64(g.IntN(100)) / 4
	case "boolean":
		return g.IntN(2) == 0
	}
	object := map[string]any{}
	if s.XPreserveUnknownFields {
		object = g.jsonObject(2)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		delete(object, name)
		if field := s.Properties[name]; g.IntN(5) > 0 {
			object[name] = g.unstructured(&field, malformed)
		}
	}
	return object
}

// json returns any JSON value.
func (g generator) json(depth int) any {
	kinds := 7
	if depth <= 0 {
		kinds = 5
	}
	switch g.IntN(kinds) {
	case 0:
		return g.pick("", "x", "12", "true")
	case 1:
		return int64(g.IntN(10))
	case 2:
		return float64(g.IntN(10)) + 0.5
	case 3:
		return g.IntN(2) == 0
	case 4:
		return nil
	case 5:
		items := make([]any, g.IntN(3))
		for i := range items {
			items[i] = g.json(depth - 1)
		}
		return items
	default:
		return g.jsonObject(depth)
	}
}

func (g generator) jsonObject(depth int) map[string]any {
	object := map[string]any{}
	for range g.IntN(3) {
		object[g.pick(append(fieldNames, "x", "key")...)] = g.json(depth - 1)
	}
	return object
}

// widget returns an object of a version.
func (g generator) widget(version string, s *structuralschema.Structural, malformed bool) *unstructured.Unstructured {
	object, ok := g.unstructured(s, malformed).(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"})
	u.SetName("b")
	u.SetNamespace("a")
	u.SetFinalizers([]string{"f"})
	u.SetAnnotations(map[string]string{"example.com/a": g.pick("", "{}", "x", `{"spec": {"a": [1, null]}}`)})
	return u
}

// definition returns a CRDSpec of two versions with converters in both directions and rules from v1
// to v2.
func (g generator) definition() *conversion.CRDSpec {
	first := g.schema()
	second := g.mutate(first)
	d := &conversion.CRDSpec{
		Kind:     schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Versions: []conversion.Version{{Name: "v1", Schema: first}, {Name: "v2", Schema: second}},
	}
	d.Converters = []v1.Converter{{FromVersion: "v1", ToVersion: "v2"}, {FromVersion: "v2", ToVersion: "v1"}}
	d.Tables = []v1.ConversionTable{{Name: "t", Map: map[string]string{"a": "x", "true": "12", "": "ü"}}}
	for i := range g.IntN(4) {
		source, target := g.path(first), g.path(second)
		d.Converters[0].Variables = append(d.Converters[0].Variables, v1.ConversionVariable{Name: fmt.Sprintf("v%d", i), Expression: g.expression(source.expression, target.constructor)})
		if errs, _ := validate(d, nil); slices.ContainsFunc(errs, func(err string) bool { return strings.HasPrefix(err, "spec.conversion.converters[0].variables") }) {
			d.Converters[0].Variables[i].Expression = g.pick("1", "self.spec", "variables.v0", "self")
			if i == 0 {
				d.Converters[0].Variables[i].Expression = "self"
			}
		}
	}
	d.Converters[0].Rules = g.rules(d)
	return d
}

// rules returns rules from v1 to v2. Most are valid.
func (g generator) rules(d *conversion.CRDSpec) []v1.ConversionRule {
	var rules []v1.ConversionRule
	for range g.IntN(30) {
		source, target := g.path(d.Versions[0].Schema), g.path(d.Versions[1].Schema)
		rule := v1.ConversionRule{Field: target.path, Rule: g.expression(source.expression, target.constructor)}
		if g.IntN(3) == 0 {
			rule.Scope, rule.Rule = source.path, g.expression("self", target.constructor)
			rule.Field = g.pick("", "", target.name)
		}
		if g.IntN(3) == 0 {
			other := g.path(d.Versions[0].Schema)
			rule.Rule = g.expression(g.pick("variables.v0", "variables.v1", "index", "root"+strings.TrimPrefix(other.expression, "self"), "tables.t[string("+source.expression+")]", "inverted.t[?'x']"), target.constructor)
		}
		single := *d
		single.Converters = []v1.Converter{{FromVersion: "v1", ToVersion: "v2", Variables: d.Converters[0].Variables, Rules: []v1.ConversionRule{rule}}}
		errs, _ := validate(&single, nil)
		isValid := !slices.ContainsFunc(errs, func(err string) bool { return strings.HasPrefix(err, "spec.conversion.converters[0].rules[0]") })
		if isValid || g.IntN(200) == 0 {
			rules = append(rules, rule)
		}
	}
	return rules
}

// A place is a field somewhere in a schema.
type place struct{ path, expression, constructor, name string }

func (g generator) path(s *structuralschema.Structural) place {
	p := place{expression: "self", constructor: "Object"}
	for {
		switch {
		case s.Items != nil && g.IntN(3) > 0 && !strings.Contains(p.expression, ".x"):
			s, p.path, p.expression = s.Items, p.path+"[*]", p.expression+"[0]"
		case s.AdditionalProperties != nil && g.IntN(3) > 0 && !strings.Contains(p.expression, ".x"):
			s, p.path, p.expression = s.AdditionalProperties.Structural, p.path+"[*]", p.expression+"['x']"
		case s.XPreserveUnknownFields && !strings.Contains(p.expression, ".x") && g.IntN(2) == 0:
			// The path leads to what is open, the expression into it.
			p.expression += g.pick(".x", ".?x", ".x.a")
		case len(s.Properties) > 0 && !strings.Contains(p.expression, ".x") && (p.path == "" || g.IntN(5) > 0):
			names := slices.Sorted(maps.Keys(s.Properties))
			p.name = names[g.IntN(len(names))]
			field := s.Properties[p.name]
			escaped := map[string]string{"long-name": "long__dash__name", "in": "__in__", "e.f": "e__dot__f", "namespace": "__namespace__"}[p.name]
			if escaped == "" {
				escaped = p.name
			}
			s, p.path, p.expression, p.constructor = &field, p.path+fmt.Sprintf("[%q]", p.name), p.expression+g.pick(".", ".", ".?")+escaped, p.constructor+"."+escaped
		default:
			return p
		}
	}
}

func (g generator) expression(source, constructor string) string {
	switch g.IntN(14) {
	case 0:
		return "null"
	case 1:
		return "'x'"
	case 2:
		return "dyn(" + source + ")"
	case 3:
		return "string(" + source + ")"
	case 4:
		return "json.decode(self.metadata.annotations['example.com/a'])"
	case 5:
		return "json.encode(" + source + ")"
	case 6:
		return constructor + "{a: dyn(" + source + ")}"
	case 7:
		return "[dyn(" + source + ")]"
	case 8:
		return "dyn(" + source + ").map(e, {'a': e})"
	case 9:
		return "true ? " + source + " : null"
	case 10:
		return "{'x': dyn(" + source + ")}"
	case 11:
		return "optional.of(" + source + ")"
	default:
		return source
	}
}

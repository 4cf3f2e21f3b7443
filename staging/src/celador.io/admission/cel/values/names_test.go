// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/values"
)

// TestNames checks that equality and sums do not depend on the names of fields and keys. The names
// need escapes in expressions, look like escaped names, or cannot be escaped.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"name", "a-b", "a.b/c", "-", "namespace", "in", "if", "__if__", "__in__", "a__b", "a___b", "__", "_-_", "a__dash__b", "__dot__", "a__x__b",
		"__namespace__", "__underscores__", "日本", "1", "a b", "a__b c", "",
	} {
		object := func(v any) map[string]any { return map[string]any{name: v} }
		object1, object2 := object("a"), object("b")
		for form, test := range map[string]struct {
			schema *spec.Schema
			// one and same are equal. other differs.
			one, same, other any
		}{
			"object":         {fields(name), object1, object("a"), object2},
			"list":           {lists("", nil, fields(name)), []any{object1, object2}, []any{object("a"), object("b")}, []any{object2, object1}},
			"keys":           {lists("map", []string{name}, fields(name)), []any{object1, object2}, []any{object("b"), object("a")}, []any{object1, object("c")}},
			"keys of two":    {lists("map", []string{"k", name}, fields("k", name)), keyed(name, "a", "b"), keyed(name, "b", "a"), keyed(name, "a", "c")},
			"keys of four":   {lists("map", []string{"k", "l", "m", name}, fields("k", "l", "m", name)), keyed(name, "a", "b"), keyed(name, "b", "a"), keyed(name, "a", "c")},
			"value of a key": {lists("map", []string{"k"}, fields("k", name)), []any{map[string]any{"k": "1", name: "a"}}, []any{map[string]any{"k": "1", name: "a"}}, []any{map[string]any{"k": "1", name: "b"}}},
			"nested": {
				lists("map", []string{name}, &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
					name: *spec.StringProperty(), "more": *lists("map", []string{name}, fields(name)),
				}}}),
				[]any{map[string]any{name: "a", "more": []any{object1, object2}}, object2}, []any{object2, map[string]any{name: "a", "more": []any{object2, object1}}},
				[]any{map[string]any{name: "a", "more": []any{object1, object1}}, object2},
			},
			"map of objects": {
				&spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, AdditionalProperties: &spec.SchemaOrBool{Allows: true, Schema: fields(name)}}},
				map[string]any{name: object1}, map[string]any{name: object("a")}, map[string]any{name: object2},
			},
		} {
			t.Run(fmt.Sprintf("%s %q", form, name), func(t *testing.T) {
				schema := values.NewSchema(&openapi.Schema{Schema: test.schema})
				one, same, other := schema.Value(test.one), schema.Value(test.same), schema.Value(test.other)
				for what, compared := range map[string]struct {
					a, b ref.Val
					want types.Bool
				}{
					"itself": {one, one, true}, "an equal value": {one, same, true}, "an equal value, reversed": {same, one, true},
					"another value": {one, other, false}, "another value, reversed": {other, one, false},
				} {
					if got := compared.a.Equal(compared.b); got != compared.want {
						t.Errorf("equal to %s: %v", what, got)
					}
				}
				if test.schema.Extensions["x-kubernetes-list-type"] != "map" {
					return
				}
				if sum := one.(traits.Adder).Add(same); sum.(traits.Sizer).Size() != one.(traits.Sizer).Size() || sum.Equal(one) != types.True || one.Equal(sum) != types.True {
					t.Errorf("the sum of equal lists is %v", sum.Value())
				}
			})
		}
	}
}

// fields returns the schema of an object with fields of type string.
func fields(names ...string) *spec.Schema {
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{}}}
	for _, name := range names {
		s.Properties[name] = *spec.StringProperty()
	}
	return s
}

// lists returns the schema of a list.
func lists(listType string, keys []string, items *spec.Schema) *spec.Schema {
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"array"}, Items: &spec.SchemaOrArray{Schema: items}}}
	if listType != "" {
		s.AddExtension("x-kubernetes-list-type", listType)
		s.AddExtension("x-kubernetes-list-map-keys", anys(keys))
	}
	return s
}

// keyed returns objects that differ in the field with the given name.
func keyed(name string, values ...string) []any {
	var all []any
	for _, value := range values {
		all = append(all, map[string]any{"k": "x", "l": "y", "m": "z", name: value})
	}
	return all
}

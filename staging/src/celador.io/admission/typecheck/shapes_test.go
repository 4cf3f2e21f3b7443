// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// tree returns the recursive schema of an object with a name, and with a child, a list and a map of
// its own type.
func tree() *spec.Schema {
	s := objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})
	s.Properties["child"] = *s
	s.Properties["children"] = *spec.ArrayProperty(s)
	s.Properties["byName"] = *spec.MapProperty(s)
	return s
}

// nested returns a recursive schema of lists of lists.
func nested() *spec.Schema {
	s := spec.ArrayProperty(nil)
	s.Items = &spec.SchemaOrArray{Schema: s}
	return s
}

func wide(properties int) *spec.Schema {
	all := map[string]spec.Schema{}
	for i := range properties {
		all[fmt.Sprintf("p%d", i)] = *objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})
	}
	return widgetSpec(all)
}

func TestSchemaShapes(t *testing.T) {
	widgets, mapper := rule("example.com", "v1", "widgets"), mapperFor(widget)
	for name, test := range map[string]struct {
		schema *spec.Schema
		source string
		want   string
	}{
		"circle":             {tree(), "object.child.children[0].byName.a.children.all(c, c.child.name != '')", ""},
		"circle, undefined":  {tree(), "object.child.children[0].byName.a.children.all(c, c.child.names != '')", "undefined field 'names'"},
		"circle, same types": {tree(), "object.child == object.child.child && (object.children + object.child.children).all(c, c.name != '')", ""},
		"circle, repeated":   {tree(), "[" + strings.Repeat("object.child.child.name, ", 300) + "''].size() > 1", ""},
		"lists in lists":     {widgetSpec(map[string]spec.Schema{"lists": *nested()}), "object.spec.lists[0][0][0] == []", ""},
		"lists, deep":        {widgetSpec(map[string]spec.Schema{"lists": *nested()}), "object.spec.lists" + strings.Repeat("[0]", 40) + " == 1", ""},
		"many properties":    {wide(10_000), "object.spec.p9999.name == '' && object.spec.p1.name == ''", ""},
		"many, undefined":    {wide(10_000), "object.spec.p10000.name == ''", "undefined field 'p10000'"},
		"odd names": {
			widgetSpec(map[string]spec.Schema{
				"a.b": *objectOf(map[string]spec.Schema{"name": *spec.StringProperty()}), "a": *objectOf(map[string]spec.Schema{"b": *spec.Int64Property()}),
				"1 ü": *objectOf(map[string]spec.Schema{"size": *spec.Int64Property()}), "@idx": *spec.StringProperty(), "": *spec.StringProperty(),
			}),
			"object.spec.`a.b`.name == '' && object.spec.a.b == 1 && object.spec.a.b == ''", "(int, string)",
		},
		"other properties": {
			widgetSpec(map[string]spec.Schema{"size": *spec.Int64Property()}).SetProperty("status", spec.Schema{SchemaProps: spec.SchemaProps{
				Type: []string{"object"}, Properties: map[string]spec.Schema{"size": *spec.Int64Property()}, AdditionalProperties: &spec.SchemaOrBool{Allows: true, Schema: spec.StringProperty()},
			}}),
			"object.status.size == 1 && object.status.color == 1", "(string, int)",
		},
		"nothing":            {&spec.Schema{}, "object.a.b == 1", ""},
		"only a type":        {objectOf(nil), "object.a.b == 1 && object.metadata.labels.a == 'b' && object.kind == 'a'", ""},
		"not an object":      {spec.StringProperty(), "object.a", "does not support field selection"},
		"no type, but items": {&spec.Schema{SchemaProps: spec.SchemaProps{Items: &spec.SchemaOrArray{}}}, "object[0] == 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapper, schemas{widget: test.schema}).CheckValidating(policy(test.source, widgets))
			if len(result.Types) != 1 {
				t.Fatalf("not checked: %v", result.Unchecked)
			}
			if len(result.Findings) == 0 && test.want != "" {
				t.Fatalf("nothing found, want %q", test.want)
			}
			for _, f := range result.Findings {
				if test.want == "" || !strings.Contains(f.Message, test.want) {
					t.Errorf("found %.2000s, want %q", f.Message, test.want)
				}
			}
		})
	}
}

// With variables, expressions can descend further into a recursive schema than the parser allows a
// single expression. Beyond some depth, types are dynamic.
func TestDeepCircle(t *testing.T) {
	deeper := []string{"v0", "object"}
	for i := range 100 {
		deeper = append(deeper, fmt.Sprintf("v%d", i+1), fmt.Sprintf("variables.v%d%s", i, strings.Repeat(".child", 100)))
	}
	p := policy("variables.v1.names == '' && variables.v100.names == ''", rule("example.com", "v1", "widgets"), variables(deeper...))
	result := checker(t, mapperFor(widget), schemas{widget: tree()}).CheckValidating(p)
	if len(result.Findings) != 1 || strings.Count(result.Findings[0].Message, "undefined field 'names'") != 1 {
		t.Errorf("found %v", result.Findings)
	}
}

// Properties of a schema that expressions do not read cost nothing.
func TestCostOfSchemas(t *testing.T) {
	p := policy("object.spec.p1.name == '' && object.spec.p2.names == ''", rule("example.com", "v1", "widgets"))
	allocations := func(properties int) float64 {
		c := checker(t, mapperFor(widget), schemas{widget: wide(properties)})
		return testing.AllocsPerRun(10, func() { c.CheckValidating(p) })
	}
	if few, many := allocations(10), allocations(10_000); many > few*1.1 {
		t.Errorf("10 properties take %v allocations, 10000 take %v", few, many)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// partialSchema has fields of the types that a rule may fail to read.
func partialSchema() *structuralschema.Structural {
	typed := func(name string) structuralschema.Structural {
		return structuralschema.Structural{Generic: structuralschema.Generic{Type: name}}
	}
	item := typed("object")
	item.Properties = map[string]structuralschema.Structural{"name": typed("string"), "port": typed("integer")}
	list := typed("array")
	list.Items = &item
	spec := typed("object")
	spec.Properties = map[string]structuralschema.Structural{"a": typed("string"), "b": typed("string"), "n": typed("integer"), "list": list}
	root := typed("object")
	root.Properties = map[string]structuralschema.Structural{"spec": spec}
	return &root
}

func TestConvertPartial(t *testing.T) {
	item := func(fields ...any) map[string]any {
		item := map[string]any{}
		for i := 0; i < len(fields); i += 2 {
			item[fields[i].(string)] = fields[i+1]
		}
		return item
	}
	tests := map[string]struct {
		rules      []v1.ConversionRule
		spec, want any
	}{
		"what a rule reads is missing": {
			[]v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a + self.spec.b"}, {Field: "spec.n", Rule: "self.spec.n + 1"}},
			item("a", "x", "n", int64(1)), item("n", int64(2)),
		},
		"the parent is missing": {
			[]v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.b"}}, nil, nil,
		},
		"fields of items": {
			[]v1.ConversionRule{{Scope: "spec.list[*]", Field: "name", Rule: "self.name + string(self.port)"}},
			item("list", []any{item("name", "x", "port", int64(1)), item("name", "y"), item("port", int64(2))}),
			item("list", []any{item("name", "x1", "port", int64(1)), item(), item("port", int64(2))}),
		},
		"items": {
			[]v1.ConversionRule{{Scope: "spec.list[*]", Rule: "Object.spec.list{name: self.name + 'x'}"}},
			item("list", []any{item("name", "x"), item("port", int64(2))}),
			item("list", []any{item("name", "xx"), item("port", int64(2))}),
		},
		"a value that is computed from nothing": {
			[]v1.ConversionRule{{Field: "spec.n", Rule: "10 / size(self.?spec.?a.orValue(''))"}, {Field: "spec.b", Rule: "self.spec.list[0].name"}},
			item("list", []any{}), item("list", []any{}),
		},
		"metadata": {
			[]v1.ConversionRule{{Field: "metadata.annotations['x']", Rule: "self.spec.a"}}, item("b", "y"), item("b", "y"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := conversion.New(&conversion.CRDSpec{
				Kind:       schema.GroupKind{Group: "example.com", Kind: "Widget"},
				Versions:   []conversion.Version{{Name: "v1", Schema: partialSchema()}, {Name: "v2", Schema: partialSchema()}},
				Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2", Rules: test.rules}},
			})
			in := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}}}
			if test.spec != nil {
				in.Object["spec"] = test.spec
			}
			if _, err := c.Convert(t.Context(), in, "v2"); err == nil {
				t.Error("Convert returns no error")
			}
			out, err := c.ConvertPartial(t.Context(), in, nil, "v2")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.Object["spec"]); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

// A rule that fails sees the defaults of a part, and sets its field if it also reads something that
// the part has.
func TestConvertPartialWithDefaults(t *testing.T) {
	list := func(item map[string]any) []any { return []any{item} }
	for name, test := range map[string]struct {
		variables             []v1.ConversionVariable
		rules, next           []v1.ConversionRule
		spec, defaulted, want map[string]any
	}{
		"a default beside a value": {
			rules: []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a + self.spec.b"}},
			spec:  map[string]any{"a": "x"}, defaulted: map[string]any{"a": "x", "b": "y"}, want: map[string]any{"a": "xy"},
		},
		"only a default": {
			rules: []v1.ConversionRule{{Field: "spec.a", Rule: "has(self.spec) && self.metadata.name != '' ? self.spec.b : null"}},
			spec:  map[string]any{"n": int64(1)}, defaulted: map[string]any{"n": int64(1), "b": "y"}, want: map[string]any{"n": int64(1)},
		},
		"a copied default": {
			rules: []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a + self.spec.b"}},
			spec:  map[string]any{"a": "x"}, defaulted: map[string]any{"a": "x", "b": "y", "n": int64(1)}, want: map[string]any{"a": "xy"},
		},
		"a rule that needs no default": {
			rules: []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.?a.orValue('') + self.spec.?b.orValue('')"}, {Field: "spec.n", Rule: "self.spec.n"}},
			spec:  map[string]any{"a": "x"}, defaulted: map[string]any{"a": "x", "b": "y"}, want: map[string]any{"a": "x"},
		},
		"a rule that fails with defaults, too": {
			rules: []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a + string(self.spec.n)"}},
			spec:  map[string]any{"a": "x"}, defaulted: map[string]any{"a": "x", "b": "y"}, want: map[string]any{},
		},
		"items": {
			rules: []v1.ConversionRule{{Scope: "spec.list[*]", Field: "name", Rule: "self.name + string(self.port)"}, {Scope: "spec.list[*]", Field: "port", Rule: "self.port + 1"}},
			spec:  map[string]any{"list": list(map[string]any{"name": "x"})}, defaulted: map[string]any{"list": list(map[string]any{"name": "x", "port": int64(1)})},
			want: map[string]any{"list": list(map[string]any{"name": "x1"})},
		},
		"values outside of the item": {
			rules: []v1.ConversionRule{{Scope: "spec.list[*]", Field: "name", Rule: "root.spec.a + string(self.port)"}},
			spec:  map[string]any{"a": "x", "list": list(map[string]any{})}, defaulted: map[string]any{"a": "x", "list": list(map[string]any{"port": int64(1)})},
			want: map[string]any{"a": "x", "list": list(map[string]any{"name": "x1"})},
		},
		"a variable": {
			variables: []v1.ConversionVariable{{Name: "both", Expression: "self.spec.a + self.spec.b"}, {Name: "one", Expression: "self.spec.b"}},
			rules:     []v1.ConversionRule{{Field: "spec.a", Rule: "variables.both"}, {Field: "spec.n", Rule: "size(variables.one)"}},
			spec:      map[string]any{"a": "x"}, defaulted: map[string]any{"a": "x", "b": "y"}, want: map[string]any{"a": "xy"},
		},
		"a chain": {
			rules: []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a + self.spec.b"}},
			next:  []v1.ConversionRule{{Field: "spec.b", Rule: "self.spec.a + string(self.spec.n)"}},
			spec:  map[string]any{"a": "x"}, defaulted: map[string]any{"a": "x", "b": "y", "n": int64(1)}, want: map[string]any{"a": "xy", "b": "xy1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := conversion.New(&conversion.CRDSpec{
				Kind:     schema.GroupKind{Group: "example.com", Kind: "Widget"},
				Versions: []conversion.Version{{Name: "v1", Schema: partialSchema()}, {Name: "v2", Schema: partialSchema()}, {Name: "v3", Schema: partialSchema()}},
				Converters: []v1.Converter{
					{FromVersion: "v1", ToVersion: "v2", Variables: test.variables, Rules: test.rules},
					{FromVersion: "v2", ToVersion: "v3", Rules: test.next},
				},
			})
			object := func(spec map[string]any) *unstructured.Unstructured {
				return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": spec}}
			}
			out, err := c.ConvertPartial(t.Context(), object(test.spec), object(test.defaulted), "v3")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.Object["spec"]); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIdentical(t *testing.T) {
	other := partialSchema()
	other.Properties["status"] = structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
	d := &conversion.CRDSpec{
		Kind: schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Versions: []conversion.Version{
			{Name: "v1", Schema: partialSchema()}, {Name: "v2", Schema: partialSchema()}, {Name: "v3", Schema: partialSchema()},
			{Name: "other", Schema: other}, {Name: "v4", Schema: partialSchema()},
		},
		Converters: []v1.Converter{
			{FromVersion: "v1", ToVersion: "v2"},
			{FromVersion: "v2", ToVersion: "v1", Rules: []v1.ConversionRule{{Field: "spec.a", Rule: "self.spec.a"}}},
			{FromVersion: "v2", ToVersion: "v3"},
			{FromVersion: "v2", ToVersion: "other"},
			{FromVersion: "other", ToVersion: "v4"},
		},
	}
	for _, test := range []struct {
		from, to string
		want     bool
	}{
		{"v1", "v1", true}, {"v1", "v2", true}, {"v1", "v3", true},
		{"v2", "v1", false}, {"v3", "v1", false}, {"v1", "other", false}, {"v1", "v4", false},
	} {
		if got := d.Identical(test.from, test.to); got != test.want {
			t.Errorf("%s to %s: got %v", test.from, test.to, got)
		}
	}
}

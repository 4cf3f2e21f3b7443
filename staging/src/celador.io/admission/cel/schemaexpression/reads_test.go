// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"slices"
	"strings"
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

func TestSelfReads(t *testing.T) {
	item := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"name": apiservercel.NewDeclField("name", apiservercel.StringType, false, nil, nil),
		"size": apiservercel.NewDeclField("size", apiservercel.IntType, false, nil, nil),
	})
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"name":   apiservercel.NewDeclField("name", apiservercel.StringType, false, nil, nil),
		"item":   apiservercel.NewDeclField("item", item, false, nil, nil),
		"items":  apiservercel.NewDeclField("items", apiservercel.NewListType(item, 10), false, nil, nil),
		"labels": apiservercel.NewDeclField("labels", apiservercel.NewMapType(apiservercel.StringType, apiservercel.StringType, 10), false, nil, nil),
		"sizes":  apiservercel.NewDeclField("sizes", apiservercel.NewMapType(apiservercel.StringType, item, 10), false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	// A question mark marks parts of which only the presence or size is read.
	tests := []struct{ expression, reads string }{
		{"1 + 1", ""},
		{"self", "self"},
		{"self.name", "self.name"},
		{"self.item.name == self.name", "self.item.name self.name"},
		{"has(self.item.name)", "self.item.name?"},
		{"size(self.items) + self.items.size()", "self.items? self.items?"},
		{"self.items[0].name", "self.items.[*].name"},
		{"self.items[self.items[0].size].name", "self.items.[*].size self.items.[*].name"},
		{"self.labels['a.b']", "self.labels.a.b"},
		{"self.labels[self.name]", "self.name self.labels.[*]"},
		{"self.?item.?name.orValue('x')", "self.item.name"},
		{"self.labels[?'a'].hasValue()", "self.labels.a?"},
		{"self.items.map(e, e.name)", "self.items? self.items.[*].name"},
		{"self.items.exists(e, e.size > 1)", "self.items? self.items.[*].size"},
		{"self.items.filter(e, e.size > 1)", "self.items? self.items.[*].size self.items.[*]"},
		{"self.sizes.transformList(k, v, v.size)", "self.sizes? self.sizes.[*].size"},
		{"self.items.map(self, self.name)", "self.items? self.items.[*].name"},
		{"(has(self.name) ? self.items[0] : self.items[1]).size", "self.name? self.items.[*].size"},
		{"{'a': self.item}", "self.item"},
		{"dyn(self.item).name", "self.item.name"},
		{"self.?item.optMap(i, i.size).orValue(0)", "self.item? self.item.size"},
		{"self.items.slice(1, self.items.size())[0].name", "self.items? self.items.[*].name"},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			x, err := env.Compile(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, read := range x.SelfReads() {
				text := strings.Join(append([]string{"self"}, read.Path...), ".")
				if !read.Whole {
					text += "?"
				}
				if !slices.Contains(got, text) {
					got = append(got, text)
				}
			}
			var want []string
			for _, text := range strings.Fields(test.reads) {
				if !slices.Contains(want, text) {
					want = append(want, text)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("reads %v, want %v", got, want)
			}
		})
	}
}

// Each level doubles the parts that its variable stands for.
func TestSelfReadsIsBounded(t *testing.T) {
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"a": apiservercel.NewDeclField("a", apiservercel.StringType, false, nil, nil),
		"b": apiservercel.NewDeclField("b", apiservercel.BoolType, false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	const levels = 10
	expression := "x"
	for range levels {
		expression = "optional.of(self.b ? x : x).optMap(x, " + expression + ").value()"
	}
	x, compileErr := env.Compile("optional.of(self.a).optMap(x, " + expression + ")")
	if compileErr != nil {
		t.Fatal(compileErr)
	}
	if n := len(x.SelfReads()); n == 0 || n > 1000 {
		t.Errorf("%d reads", n)
	}
}

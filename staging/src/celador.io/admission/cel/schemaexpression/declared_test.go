// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// sharingScope returns the type of a root, and the environments of the root and of the items of
// root.items. They share variables, and the items have index and tables.
func sharingScope(t *testing.T, shared *schemaexpression.Shared) (root, items *schemaexpression.Environment) {
	t.Helper()
	item := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"name": apiservercel.NewDeclField("name", apiservercel.StringType, false, nil, nil),
	})
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"name":  apiservercel.NewDeclField("name", apiservercel.StringType, false, nil, nil),
		"item":  apiservercel.NewDeclField("item", item, false, nil, nil),
		"items": apiservercel.NewDeclField("items", apiservercel.NewListType(item, 10), false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	sizes := apiservercel.NewDeclField("sizes", apiservercel.NewMapType(apiservercel.StringType, apiservercel.StringType, 3), true, nil, nil)
	others := []schemaexpression.Declaration{
		{Name: schemaexpression.Root, Type: self},
		{Name: "tables", Type: apiservercel.NewObjectType("object(tables)", map[string]*apiservercel.DeclField{"sizes": sizes}), IsNamespace: true},
	}
	environments := make([]*schemaexpression.Environment, 2)
	for i, scope := range []schemaexpression.Scope{
		{Self: self, Others: others, Shared: shared},
		{Self: self.Fields["items"].Type.ElemType, Others: append(slices.Clip(others), schemaexpression.Declaration{Name: "index", Type: apiservercel.IntType}), Shared: shared},
	} {
		var err error
		if environments[i], err = schemaexpression.Default().Environment(scope, environment.StoredExpressions); err != nil {
			t.Fatal(err)
		}
	}
	return environments[0], environments[1]
}

func mustCompile(t *testing.T, env *schemaexpression.Environment, source string) *schemaexpression.Expression {
	t.Helper()
	x, err := env.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestReadsOfSharedVariables(t *testing.T) {
	shared := schemaexpression.NewShared()
	root, items := sharingScope(t, shared)
	for _, variable := range [][2]string{{"item", "self.item"}, {"names", "self.items.map(i, i.name)"}, {"both", "variables.names + [variables.item.name]"}} {
		shared.Declare(variable[0], mustCompile(t, root, variable[1]))
	}
	for _, test := range []struct{ expression, self, root string }{
		{"self.name", "name", ""},
		{"root.item.name + self.name", "name", "item.name"},
		{"variables.item.name", "", "item.name"},
		{"self.name + variables.item.?name.orValue('')", "name", "item.name"},
		{"has(variables.item.name)", "", "item.name?"},
		{"variables.names", "", "items.[*].name items?"},
		{"variables.both", "", "item.name items.[*].name items?"},
		{"[{'item': self}].map(variables, variables.item)", "", ""},
		{"root.items[index].name + tables.sizes[self.name]", "name", "items.[*].name"},
	} {
		t.Run(test.expression, func(t *testing.T) {
			x := mustCompile(t, items, test.expression)
			for name, reads := range map[string][]schemaexpression.Read{test.self: x.SelfReads(), "root " + test.root: x.RootReads()} {
				var got []string
				for _, read := range reads {
					text := strings.Join(read.Path, ".")
					if !read.Whole {
						text += "?"
					}
					if text != "" {
						got = append(got, text)
					}
				}
				slices.Sort(got)
				if text := strings.Join(slices.Compact(got), " "); text != strings.TrimSpace(strings.TrimPrefix(name, "root")) {
					t.Errorf("reads %q, want %q", text, name)
				}
			}
		})
	}
}

// Each variable reads those before it twice.
func TestReadsOfSharedVariablesAreBounded(t *testing.T) {
	shared := schemaexpression.NewShared()
	root, _ := sharingScope(t, shared)
	shared.Declare("v0", mustCompile(t, root, "self.name"))
	for i := range 50 {
		shared.Declare(fmt.Sprintf("v%d", i+1), mustCompile(t, root, fmt.Sprintf("has(self.name) ? variables.v%d : variables.v%d", i, i/2)))
	}
	if n := len(mustCompile(t, root, "variables.v50").RootReads()); n == 0 || n > 5000 {
		t.Errorf("%d reads", n)
	}
}

func TestNamespaces(t *testing.T) {
	shared := schemaexpression.NewShared()
	root, items := sharingScope(t, shared)
	shared.Declare("item", mustCompile(t, root, "self.item"))
	for source, refused := range map[string]bool{
		"variables.item.name":              false,
		"has(variables.item)":              true,
		"variables":                        true,
		"dyn(variables).item":              true,
		"tables == tables":                 true,
		"[tables][0].sizes.size()":         true,
		"has(self.name) ? tables : tables": true,
		"tables.sizes":                     false,
	} {
		_, err := items.Compile(source)
		if refused != (err != nil) || refused && !strings.Contains(err.Detail, "is no value: select one of its fields") {
			t.Errorf("%s: got error %v", source, err)
		}
	}
	x := mustCompile(t, items, "[{'item': tables.sizes}].map(variables, variables.item)")
	if x.ReadsShared("item") || !x.ReadsNamespace("tables") {
		t.Error("a local variable is taken for the shared ones")
	}
	x = mustCompile(t, items, "[{'sizes': variables.item}].map(tables, tables.sizes)")
	if !x.ReadsShared("item") || x.ReadsShared("sizes") || x.ReadsNamespace("tables") {
		t.Error("a local variable is taken for the tables")
	}
}

// values resolves variables and records which ones were read.
type values struct {
	names map[string]ref.Val
	reads []string
}

func (v *values) ResolveName(name string) (any, bool) {
	value, ok := v.names[name]
	if ok {
		v.reads = append(v.reads, name)
	}
	return value, ok
}

// Closures and cel-go's interpreter read the same values, also what is in the optional of a shared
// variable.
func TestDeclaredValues(t *testing.T) {
	shared := schemaexpression.NewShared()
	root, items := sharingScope(t, shared)
	shared.Declare("a", mustCompile(t, root, "self.?name"))
	shared.Declare("item", mustCompile(t, root, "self.?item"))
	shared.Declare("unknown", nil)
	names := map[string]ref.Val{
		"index":             types.Int(7),
		"tables":            types.DefaultTypeAdapter.NativeToValue(map[string]any{"sizes": map[string]string{"s": " small "}}),
		"variables.a":       types.OptionalOf(types.String("x")),
		"variables.item":    types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(map[string]any{"name": "y"})),
		"variables.unknown": types.String("z"),
	}
	const source = "variables.unknown + string(index) + tables.sizes.s + variables.item.?name.orValue('none') + variables.a.orValue('none')"
	for planned, prefix := range []string{"(has((true ? {'a': 1} : {}).a) ? '' : '!') + ", ""} {
		program, err := mustCompile(t, items, prefix+source).Program()
		if err != nil || program.Planned() != planned {
			t.Fatalf("got %v, planned: %d, want %d", err, program.Planned(), planned)
		}
		v := &values{names: names}
		if got := program.Evaluate(context.Background(), &schemaexpression.Activation{Self: types.String("unread"), Values: v}); got.Err != nil || got.Value != types.String("z7 small yx") {
			t.Errorf("planned %d: got %v, %v", planned, got.Value, got.Err)
		}
		if want := []string{"variables.unknown", "index", "tables", "variables.item", "variables.a"}; !slices.Equal(v.reads, want) {
			t.Errorf("planned %d: reads %v, want %v", planned, v.reads, want)
		}
	}
}

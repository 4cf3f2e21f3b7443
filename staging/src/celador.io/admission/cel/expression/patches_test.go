// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"testing"

	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/expression"
)

// TestPatches checks that the types of mutations are declared for mutations only.
func TestPatches(t *testing.T) {
	patch, object := cel.ObjectType(mutation.JSONPatchTypeName), cel.ObjectType(mutation.ObjectTypeName)
	const undeclared = "compilation failed: ERROR: <input>:1:"
	for source, test := range map[string]struct {
		output *cel.Type
		// otherwise is the error of an expression that is compiled without Declarations.Patches.
		otherwise string
	}{
		`[JSONPatch{op: "add", path: "/spec", value: Object.spec{replicas: 3}}]`: {cel.ListType(patch), undeclared + "1" + "1: undeclared reference to 'JSONPatch' (in container '')"},
		`Object{metadata: Object.metadata{labels: {"a": request.name}}}`:         {object, undeclared + "7: undeclared reference to 'Object' (in container '')"},
		`jsonpatch.escapeKey(namespaceObject.metadata.name)`:                     {cel.StringType, undeclared + "1: undeclared reference to 'jsonpatch' (in container '')"},
	} {
		t.Run(source, func(t *testing.T) {
			for _, in := range []expression.Declarations{nothing, params, authz, everything} {
				_, err := expression.Default().Compile(source, in, fresh, cel.AnyType)
				wantError(t, err, apiservercel.ErrorTypeInvalid, test.otherwise)
				in.Patches = true
				composition := expression.Default().Compose()
				if _, err := composition.Declare("v", "1", in, fresh); err != nil {
					t.Fatal(err)
				}
				for name, compiler := range map[string]*expression.Compiler{"plain": expression.Default(), "composed": composition.Compiler} {
					program, err := compiler.Compile(source, in, fresh, cel.AnyType)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if !program.OutputType().IsExactType(test.output) {
						t.Errorf("%s: output type is %v, want %v", name, program.OutputType(), test.output)
					}
				}
			}
		})
	}
}

// New expressions have no JSON patch with a constant that is no operation. Stored ones may, since
// Kubernetes accepts them.
func TestOperations(t *testing.T) {
	in := expression.Declarations{Patches: true}
	unknown := func(column, op string) string {
		return "compilation failed: ERROR: <input>:1:" + column + ": unknown operation '" + op + "' of a JSON patch: must be one of add, copy, move, remove, replace, test"
	}
	for source, want := range map[string]string{
		`[JSONPatch{op: "add"}, JSONPatch{op: "copy"}, JSONPatch{op: "move"}, JSONPatch{op: "remove"}, JSONPatch{op: "replace"}, JSONPatch{op: "test"}]`: "",
		`[JSONPatch{op: object.op}, JSONPatch{}]`:                            "",
		`[JSONPatch{op: "add", path: "swap", value: {"op": "swap"}}]`:        "",
		`[JSONPatch{op: "swap", path: "/spec"}]`:                             unknown("16", "swap"),
		`[JSONPatch{op: "Add"}]`:                                             unknown("16", "Add"),
		`[JSONPatch{op: ""}]`:                                                unknown("16", ""),
		`[.JSONPatch{op: "swap"}]`:                                           unknown("17", "swap"),
		`[1].map(i, JSONPatch{op: "swap"})`:                                  unknown("26", "swap"),
		`[JSONPatch{op: has(object.a) ? "add" : "replace"}]`:                 "",
		`[JSONPatch{op: has(object.a) ? "add" : object.b ? "swap" : "add"}]`: unknown("51", "swap"),
	} {
		if _, err := expression.Default().Compile(source, in, stored, cel.AnyType); err != nil {
			t.Errorf("%s, stored: %v", source, err)
		}
		_, err := expression.Default().Compile(source, in, fresh, cel.AnyType)
		if want != "" {
			wantError(t, err, apiservercel.ErrorTypeInvalid, want)
		} else if err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

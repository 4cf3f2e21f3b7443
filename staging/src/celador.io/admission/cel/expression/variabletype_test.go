// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/expression"
)

// lists returns the type of lists nested to the given depth around a type.
func lists(depth int, of *cel.Type) *cel.Type {
	for range depth {
		of = cel.ListType(of)
	}
	return of
}

// doubled returns the type of nested maps whose keys and values have the same type.
func doubled(depth int) *cel.Type {
	t := cel.IntType
	for range depth {
		t = cel.MapType(t, t)
	}
	return t
}

func TestVariableTypes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		output *cel.Type
		keeps  bool
	}{
		"scalar":           {cel.IntType, true},
		"object":           {cel.ObjectType("a.B"), true},
		"usual":            {cel.MapType(cel.StringType, cel.ListType(cel.OptionalType(cel.StringType))), true},
		"140 lists":        {lists(140, cel.IntType), true},
		"150 lists":        {lists(150, cel.IntType), false},
		"1023 with maps":   {doubled(9), true},
		"2047 with maps":   {doubled(10), true},
		"2048 with maps":   {lists(1, doubled(10)), false},
		"4095 with maps":   {doubled(11), false},
		"a billion":        {doubled(30), false},
		"optional billion": {cel.OptionalType(doubled(30)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var types expression.VariableTypes
			got := types.Of(test.output)
			if test.keeps && got != test.output {
				t.Errorf("the type is %v", got)
			}
			if !test.keeps && got != cel.DynType {
				t.Error("the type is still declared")
			}
		})
	}
}

// TestManyLargeVariables declares more variables of large types than can keep their types.
func TestManyLargeVariables(t *testing.T) {
	t.Parallel()
	var types expression.VariableTypes
	kept := 0
	for range 100 {
		if types.Of(doubled(10)) != cel.DynType {
			kept++
		}
	}
	if kept < 4 || kept == 100 {
		t.Errorf("%d of 100 variables keep their types", kept)
	}
	if got := types.Of(doubled(5)); got == cel.DynType {
		t.Error("a variable of a small type does not keep its type")
	}
}

func size(t *cel.Type) int {
	sum := 1
	for _, parameter := range t.Parameters() {
		sum += size(parameter)
	}
	return sum
}

// TestLiteralVariables checks that invalid reads of variables with long types have the same errors
// as in Kubernetes.
func TestLiteralVariables(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{31, 32, 63, 64, 100, 200} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			t.Parallel()
			composition := expression.Default().Compose()
			if _, err := composition.Declare("v", strings.Repeat("{'a': ", depth/2)+"1"+strings.Repeat("}", depth/2), nothing, stored); err != nil {
				t.Fatal(err)
			}
			_, err := composition.Compile("variables.v != 1", nothing, stored, cel.BoolType)
			if err == nil || !strings.HasPrefix(err.Detail, "compilation failed: ERROR: <input>:1:13: found no matching overload for '_!=_' applied to '(map(string, map(string, ") {
				t.Errorf("compiles, or fails with %v", err)
			}
		})
	}
}

func TestGrowingVariables(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{
		"maps":  "{variables.%[1]s: variables.%[1]s}",
		"lists": strings.Repeat("[", 100) + "variables.%[1]s" + strings.Repeat("]", 100),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			composition := expression.Default().Compose()
			if _, err := composition.Declare("v0", "1", nothing, stored); err != nil {
				t.Fatal(err)
			}
			for i := range 15 {
				program, err := composition.Declare(fmt.Sprint("v", i+1), fmt.Sprintf(next, fmt.Sprint("v", i)), nothing, stored)
				if err != nil {
					t.Fatal(err)
				}
				if got := size(program.OutputType()); got > 4095 {
					t.Fatalf("the type of variable %d is made of %d", i+1, got)
				}
			}
		})
	}
}

// TestTooLargeTypes compiles expressions that would keep cel-go's checker busy for hours.
func TestTooLargeTypes(t *testing.T) {
	t.Parallel()
	composition := expression.Default().Compose()
	_, err := composition.Declare("v", "[0]"+strings.Repeat(".map(a, {a: a})", 40), nothing, fresh)
	const position = "<input>:1:173: "
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: "+position+"type is too large: it is made of more than 4096 types, "+
		"as those of nested maps with keys that are maps or lists. Use dyn() for such keys or values")
	if _, err := composition.Declare("w", "[0]"+strings.Repeat(".map(a, {a: dyn(a)})", 20), nothing, fresh); err != nil {
		t.Errorf("does not compile with dyn(): %v", err)
	}
}

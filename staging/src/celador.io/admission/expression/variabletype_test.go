// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/cel"

	"celador.io/admission/expression"
)

// lists returns the type of lists in lists around a type.
func lists(depth int, of *cel.Type) *cel.Type {
	for range depth {
		of = cel.ListType(of)
	}
	return of
}

// doubled returns the type of maps from maps to maps and so on.
func doubled(depth int) *cel.Type {
	t := cel.IntType
	for range depth {
		t = cel.MapType(t, t)
	}
	return t
}

func TestVariableType(t *testing.T) {
	for name, test := range map[string]struct {
		output *cel.Type
		known  bool
	}{
		"scalar":        {cel.IntType, true},
		"object":        {cel.ObjectType("a.B"), true},
		"usual":         {cel.MapType(cel.StringType, cel.ListType(cel.OptionalType(cel.StringType))), true},
		"64 lists":      {lists(63, cel.IntType), true},
		"65 lists":      {lists(64, cel.IntType), false},
		"64 with maps":  {lists(1, doubled(5)), true},
		"65 with maps":  {lists(2, doubled(5)), false},
		"optional maps": {cel.OptionalType(doubled(6)), false},
		"a million":     {doubled(20), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := expression.VariableType(test.output)
			if test.known && got != test.output {
				t.Errorf("the type is %v", got)
			}
			if !test.known && got != cel.DynType {
				t.Error("the type is still known")
			}
		})
	}
}

func size(t *cel.Type) int {
	sum := 1
	for _, parameter := range t.Parameters() {
		sum += size(parameter)
	}
	return sum
}

func TestGrowingVariables(t *testing.T) {
	for name, next := range map[string]string{
		"maps":  "{variables.%[1]s: variables.%[1]s}",
		"lists": "[[[[[[[[[[variables.%[1]s]]]]]]]]]]",
	} {
		t.Run(name, func(t *testing.T) {
			composition := expression.Default().Compose()
			if _, err := composition.Declare("v0", "1", nothing, stored); err != nil {
				t.Fatal(err)
			}
			for i := range 15 {
				program, err := composition.Declare(fmt.Sprint("v", i+1), fmt.Sprintf(next, fmt.Sprint("v", i)), nothing, stored)
				if err != nil {
					t.Fatal(err)
				}
				if got := size(program.OutputType()); got > 2*64+1 {
					t.Fatalf("the type of variable %d is made of %d", i+1, got)
				}
			}
		})
	}
}

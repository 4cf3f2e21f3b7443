// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"fmt"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/cel/expression"
)

// A counting activation counts the names that expressions resolve.
type counting struct {
	interpreter.Activation
	resolved map[string]int
}

func (c *counting) ResolveName(name string) (any, bool) {
	c.resolved[name]++
	return c.Activation.ResolveName(name)
}

// composed compiles variables, which are pairs of a name and an expression, and one more
// expression.
func composed(t *testing.T, source string, declared ...string) (*expression.Program, []expression.Variable) {
	t.Helper()
	composition := expression.Default().Compose()
	defer expression.Default().Release(composition)
	var variables []expression.Variable
	for i := 0; i < len(declared); i += 2 {
		program, err := composition.Declare(declared[i], declared[i+1], nothing, stored)
		if err != nil {
			t.Fatal(err)
		}
		variables = append(variables, expression.Variable{Name: declared[i], Program: program})
	}
	expression.Link(variables)
	program, err := composition.Compile(source, nothing, stored, cel.AnyType)
	if err != nil {
		t.Fatal(err)
	}
	return program, variables
}

// Loops of variables that a loop reads first leave the variables of that loop alone.
func TestLoopsOfVariablesWithinLoops(t *testing.T) {
	program, variables := composed(t, "object.names.map(n, variables.outer.exists(o, o == n + '?') ? n : '-') == object.names",
		"inner", "object.names.map(x, x + '!')",
		"outer", "object.names.map(y, variables.inner.exists(z, z == y + '!') ? y + '?' : '-')")
	series := &expression.Series{}
	for range 3 {
		activation := &counting{object(t), map[string]int{}}
		series.Begin(t.Context(), activation, variables, expression.NewBudget(plenty))
		if value, err := program.Evaluate(series); err != nil || value.Value() != true {
			t.Errorf("got %v, %v", value, err)
		}
		// cel-go would read the object again.
		if n := activation.resolved["object"]; n != 4 {
			t.Errorf("object was read %d times, want 4", n)
		}
	}
}

// A program is evaluated once to learn that it recurs, and once for its result.
func TestResultsAreShared(t *testing.T) {
	program, variables := composed(t, "variables.names.all(n, n < 'd')", "names", "object.names")
	activation, results := &counting{object(t), map[string]int{}}, &expression.Results{}
	for range 5 {
		series := expression.NewSeries(t.Context(), activation, variables, expression.NewBudget(plenty))
		series.Share(results)
		if value, err := program.Evaluate(series); err != nil || value.Value() != true {
			t.Fatalf("got %v, %v", value, err)
		}
	}
	if n := activation.resolved["object"]; n != 2 {
		t.Errorf("object was read %d times, want 2", n)
	}
}

// Policies that share results have the same values, errors and costs as policies that do not, also
// if the variables of the same names have other values.
func TestResultsOfOtherPolicies(t *testing.T) {
	celtest.CheckKept(t)
	sources := []string{
		"variables.a == 1", "variables.a == 1 ? variables.b : variables.c", "variables.b == 2 && variables.a == 1", "variables.a + variables.b + variables.c",
		"string(variables.d)", "object.replicas == 3", "request.name == 'x'", "variables.names.map(n, n + 'x')", "variables.names.exists(n, n == variables.last)",
		"has(variables.a)", "variables.text + 'x' == ''",
	}
	policies := [][]string{
		{"a", "1", "b", "2", "c", "3", "d", "0.0", "names", "object.names", "last", "'c'", "text", "object.text"},
		{"a", "1", "b", "2", "c", "4", "d", "-0.0", "names", "object.names", "last", "'d'", "text", "object.text"},
		{"a", "2", "b", "2", "c", "3", "d", "0.0", "names", "['a']", "last", "'c'", "text", "object.names[0]"},
		{"a", "object.replicas == 3 ? 1 : 2", "b", "int(object.replicas) - 1", "c", "object.missing", "d", "0.0", "names", "object.names", "last", "object.names[2]", "text", "object.text"},
		{"a", "object.replicas - 2", "b", "object.missing", "c", "3", "d", "0.0", "names", "object.missing", "last", "'c'", "text", "object.text"},
		{"a", "1", "b", "2", "c", "3", "d", "0.0", "names", "object.names", "last", "'c'", "text", "object.text", "a", "2"},
	}
	results := &expression.Results{}
	for _, source := range sources {
		for range 3 {
			for _, declared := range policies {
				program, variables := composed(t, source, declared...)
				evaluate := func(results *expression.Results) (string, int64) {
					budget := expression.NewBudget(plenty)
					series := expression.NewSeries(t.Context(), object(t), variables, budget)
					series.Share(results)
					value, err := program.Evaluate(series)
					return fmt.Sprint(value, err), budget.Remaining()
				}
				want, wantRemaining := evaluate(nil)
				if got, remaining := evaluate(results); got != want || remaining != wantRemaining {
					t.Errorf("%s with %q: %s and %d units left, want %s and %d", source, declared, got, remaining, want, wantRemaining)
				}
			}
		}
	}
}

// Expressions that read params or the namespace are evaluated for each policy.
func TestResultsOfParams(t *testing.T) {
	in := nothing
	in.Params = true
	for _, source := range []string{"params.replicas", "namespaceObject.metadata.name"} {
		program, err := expression.Default().Compile(source, in, stored, cel.AnyType)
		if err != nil {
			t.Fatal(err)
		}
		results := &expression.Results{}
		for i := range 2 {
			series := expression.NewSeries(t.Context(), values(t, map[string]any{
				"params": map[string]any{"replicas": fmt.Sprint(i)}, "namespaceObject": map[string]any{"metadata": map[string]any{"name": fmt.Sprint(i)}},
			}), nil, expression.NewBudget(plenty))
			series.Share(results)
			if value, err := program.Evaluate(series); err != nil || value.Value() != fmt.Sprint(i) {
				t.Errorf("%s is %v, %v, want %d", source, value, err, i)
			}
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
)

func TestTypeOfVariable(t *testing.T) {
	for name, test := range map[string]struct {
		variable string
		reads    string
		want     string
	}{
		"string":                     {"'a'", "variables.v == 'a'", ""},
		"string taken for int":       {"'a'", "variables.v + 1 == 2", "compilation failed: ERROR: <input>:1:13: found no matching overload for '_+_' applied to '(string, int)'"},
		"bool":                       {"1 == 1", "variables.v", ""},
		"int taken for bool":         {"1", "variables.v", "must evaluate to bool but got int"},
		"uint taken for int":         {"1u", "variables.v + 1 == 2", "compilation failed: ERROR: <input>:1:13: found no matching overload for '_+_' applied to '(uint, int)'"},
		"double taken for string":    {"1.5", "variables.v.startsWith('1')", "compilation failed: ERROR: <input>:1:23: found no matching overload for 'startsWith' applied to 'double.(string)'"},
		"bytes taken for string":     {"b'a'", "variables.v.startsWith('a')", "compilation failed: ERROR: <input>:1:23: found no matching overload for 'startsWith' applied to 'bytes.(string)'"},
		"duration":                   {"duration('1h')", "variables.v.getHours() == 1", ""},
		"timestamp":                  {"timestamp('2026-01-02T00:00:00Z')", "variables.v.getFullYear() == 2026", ""},
		"timestamp taken for int":    {"timestamp('2026-01-02T00:00:00Z')", "variables.v + 1 == 2", "compilation failed: ERROR: <input>:1:13: found no matching overload for '_+_' applied to '(timestamp, int)'"},
		"list":                       {"[1, 2]", "variables.v.all(i, i > 0)", ""},
		"list of other elements":     {"[1, 2]", "variables.v.all(s, s.startsWith('a'))", "compilation failed: ERROR: <input>:1:32: found no matching overload for 'startsWith' applied to 'int.(string)'"},
		"map":                        {"{'a': [1]}", "variables.v['a'][0] == 1", ""},
		"map of other values":        {"{'a': [1]}", "variables.v['a'][0] == 'b'", "compilation failed: ERROR: <input>:1:21: found no matching overload for '_==_' applied to '(int, string)'"},
		"map of other keys":          {"{'a': 1}", "variables.v[1] == 1", "compilation failed: ERROR: <input>:1:12: found no matching overload for '_[_]' applied to '(map(string, int), int)'"},
		"part of the object":         {"object.spec", "variables.v.any.thing == 1", ""},
		"library type":               {"quantity('1')", "variables.v.isLessThan(quantity('2'))", ""},
		"optional":                   {"object.?spec", "variables.v.orValue(1) == 1", ""},
		"absent":                     {"1", "variables.w == 1", "compilation failed: ERROR: <input>:1:10: undefined field 'w'"},
		"broken, as string":          {"'a' + ", "variables.v == 'a'", ""},
		"broken, as list":            {"'a' + ", "variables.v.all(i, i > 0)", ""},
		"presence of every variable": {"1", "has(variables.v)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			composition := expression.Default().Compose()
			composition.Declare("v", test.variable, nothing, stored)
			_, err := composition.Compile(test.reads, nothing, stored, cel.BoolType)
			if test.want != "" {
				wantError(t, err, apiservercel.ErrorTypeInvalid, test.want)
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestDeclareInOrder(t *testing.T) {
	composition := expression.Default().Compose()
	_, err := composition.Declare("second", "variables.first + 1", nothing, fresh)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:10: undefined field 'first'")

	if _, err := composition.Declare("first", "1", nothing, fresh); err != nil {
		t.Fatal(err)
	}
	program, err := composition.Declare("third", "variables.first + 1", nothing, fresh)
	if err != nil {
		t.Fatal(err)
	}
	if program.OutputType() != cel.IntType {
		t.Errorf("type of the third is %v", program.OutputType())
	}
}

func TestDeclareError(t *testing.T) {
	composition := expression.Default().Compose()
	program, err := composition.Declare("v", "object.spec.\nreplicas >", nothing, fresh)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:2:11: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}")
	if program != nil {
		t.Error("a program in spite of the error")
	}
}

func TestScopeOfVariables(t *testing.T) {
	composition := expression.Default().Compose()
	_, err := composition.Declare("limit", "params.limit", nothing, fresh)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')")

	const allowed = "authorizer.requestResource.check('get').allowed()"
	if _, err := composition.Declare("allowed", allowed, everything, fresh); err != nil {
		t.Fatal(err)
	}
	// The expression may read a variable whose source needs more declarations than the expression
	// has.
	if _, err := composition.Compile("variables.allowed", nothing, fresh, cel.BoolType); err != nil {
		t.Error(err)
	}
	for _, in := range []expression.Declarations{nothing, params, authz, everything} {
		if _, err := composition.Compile("variables.allowed && object.a == 1", in, fresh, cel.BoolType); err != nil {
			t.Errorf("with %+v: %v", in, err)
		}
	}
}

func TestCompositionsAreIndependent(t *testing.T) {
	one, two := expression.Default().Compose(), expression.Default().Compose()
	one.Declare("v", "1", nothing, fresh)
	_, err := two.Compile("variables.v == 1", nothing, fresh, cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:10: undefined field 'v'")

	two.Declare("v", "'a'", nothing, fresh)
	if _, err := one.Compile("variables.v == 1", nothing, fresh, cel.BoolType); err != nil {
		t.Error(err)
	}
}

// Policies without variables may still refer to 'variables'.
func TestBare(t *testing.T) {
	_, err := expression.Default().Bare().Compile("variables.v == 1", nothing, fresh, cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:10: undefined field 'v'")
	_, err = expression.Default().Compile("variables.v == 1", nothing, fresh, cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')")
}

// A released composition serves the next policy, which does not see the previous variables.
// Existing programs stay valid.
func TestRelease(t *testing.T) {
	compiler := expression.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	composition := compiler.Compose()
	one, err := composition.Declare("v", "1", nothing, fresh)
	if err != nil {
		t.Fatal(err)
	}
	reads, err := composition.Compile("variables.v == 1 && has(variables.v)", nothing, fresh, cel.BoolType)
	if err != nil {
		t.Fatal(err)
	}
	compiler.Release(composition)

	next := compiler.Compose()
	_, err = next.Compile("variables.v == 1", nothing, fresh, cel.BoolType)
	wantError(t, err, apiservercel.ErrorTypeInvalid, "compilation failed: ERROR: <input>:1:10: undefined field 'v'")
	if _, err := next.Declare("v", "'a'", nothing, fresh); err != nil {
		t.Fatal(err)
	}

	budget := expression.NewBudget(1000)
	series := expression.NewSeries(t.Context(), interpreter.EmptyActivation(), []expression.Variable{{Name: "v", Program: one}}, budget)
	if value, err := reads.Evaluate(series); err != nil || value != types.True {
		t.Errorf("program of a released composition gives %v, %v", value, err)
	}
}

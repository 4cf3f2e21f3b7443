// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// nullable returns the environment of rules whose self is an object with the fields a, b (strings)
// and n (an integer).
func nullable(t *testing.T, nullResults bool) *schemaexpression.Environment {
	t.Helper()
	field := func(name string, declared *apiservercel.DeclType) *apiservercel.DeclField {
		return apiservercel.NewDeclField(name, declared, false, nil, nil)
	}
	self := apiservercel.NewObjectType("Self", map[string]*apiservercel.DeclField{
		"a": field("a", apiservercel.StringType),
		"b": field("b", apiservercel.StringType),
		"n": field("n", apiservercel.IntType),
	})
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self, NullResults: nullResults}, environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func TestNullResults(t *testing.T) {
	some := func(v ref.Val) ref.Val { return types.OptionalOf(v) }
	for _, tc := range []struct {
		rule, outputType string
		// set is the result if a is 'x' and n is 1, unset if self is empty.
		set, unset ref.Val
	}{
		{"null", "optional_type", types.OptionalNone, types.OptionalNone},
		{"has(self.a) ? self.a : null", "optional_type(string)", some(types.String("x")), types.OptionalNone},
		{"!has(self.a) ? null : self.a", "optional_type(string)", some(types.String("x")), types.OptionalNone},
		{"has(self.a) ? self.?a : null", "optional_type(string)", some(types.String("x")), types.OptionalNone},
		{"has(self.b) ? self.b : has(self.a) ? self.a : null", "optional_type(string)", some(types.String("x")), types.OptionalNone},
		{"has(self.b) ? self.?b : has(self.a) ? self.a : null", "optional_type(string)", some(types.String("x")), types.OptionalNone},
		{"has(self.a) ? (has(self.n) ? null : self.a) : null", "optional_type(string)", types.OptionalNone, types.OptionalNone},
		{"has(self.a) ? dyn(self.a) : null", "optional_type(dyn)", some(types.String("x")), types.OptionalNone},
		// Without null in the result, nothing changes.
		{"has(self.a) ? self.a : 'none'", "string", types.String("x"), types.String("none")},
		{"(has(self.a) ? dyn(self.a) : dyn(null)) == null ? 'null' : 'set'", "string", types.String("set"), types.String("null")},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			expression, celErr := nullable(t, true).Compile(tc.rule)
			if celErr != nil {
				t.Fatal(celErr)
			}
			if got := expression.OutputType().String(); !strings.HasPrefix(got, tc.outputType) {
				t.Errorf("got type %s, want %s", got, tc.outputType)
			}
			if expression.Source() != tc.rule {
				t.Errorf("source is %s", expression.Source())
			}
			if _, err := expression.MaxCost(schemaexpression.ObjectSize{}); err != nil {
				t.Error(err)
			}
			program, err := expression.Program()
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range []struct {
				self map[string]any
				want ref.Val
			}{
				{map[string]any{"a": "x", "n": 1}, tc.set},
				{map[string]any{}, tc.unset},
			} {
				got := program.Evaluate(context.Background(), &schemaexpression.Activation{Self: types.DefaultTypeAdapter.NativeToValue(run.self)})
				if got.Err != nil || got.Value.Equal(run.want) != types.True {
					t.Errorf("%v: got %v, %v, want %v", run.self, got.Value, got.Err, run.want)
				}
			}
		})
	}
}

// TestNullResultsErrors checks that errors point into the author's text, and that other uses of
// null stay errors.
func TestNullResultsErrors(t *testing.T) {
	for _, tc := range []struct {
		rule, want    string
		noNullResults bool
	}{
		{rule: "has(self.a) ? self.c : null", want: "<input>:1:19: undefined field 'c'"},
		{rule: "has(self.a) ? self.a : has(self.n) ? self.n : null", want: "<input>:1:13: found no matching overload for '_?_:_' applied to '(bool, optional_type(string), optional_type(int))'"},
		{rule: "[has(self.a) ? self.a : null]", want: "<input>:1:14: found no matching overload for '_?_:_' applied to '(bool, string, null)'"},
		{rule: "(has(self.a) ? self.a : null) + 'x'", want: "<input>:1:14: found no matching overload for '_?_:_' applied to '(bool, string, null)'"},
		{rule: "has(self.a) ? self.a : null", want: "<input>:1:13: found no matching overload for '_?_:_' applied to '(bool, string, null)'", noNullResults: true},
		{rule: "has(self.a) ? null", want: "<input>:1:19: Syntax error"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, err := nullable(t, !tc.noNullResults).Compile(tc.rule)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

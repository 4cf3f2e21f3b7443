// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/celtest"
	"celador.io/admission/cel/expression"
)

const plenty = 1_000_000_000

func compile(t testing.TB, source string) *expression.Program {
	t.Helper()
	program, err := expression.Default().Compile(source, nothing, stored, cel.AnyType)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func values(t testing.TB, values map[string]any) interpreter.Activation {
	t.Helper()
	activation, err := interpreter.NewActivation(values)
	if err != nil {
		t.Fatal(err)
	}
	return activation
}

func object(t *testing.T) interpreter.Activation {
	t.Helper()
	return values(t, map[string]any{"object": map[string]any{
		"replicas": 3,
		"names":    []string{"a", "b", "c"},
		"numbers":  make([]int, 1000),
		"text":     strings.Repeat("a", 20_000),
	}})
}

// cost returns the CEL cost of evaluating the program.
func cost(t *testing.T, program *expression.Program, activation interpreter.Activation) int64 {
	t.Helper()
	budget := expression.NewBudget(plenty)
	program.Evaluate(expression.NewSeries(t.Context(), activation, nil, budget))
	return plenty - budget.Remaining()
}

func TestEvaluate(t *testing.T) {
	for source, want := range map[string]any{
		"object.replicas <= 5":                    true,
		"object.replicas > 5":                     false,
		"'replicas: ' + string(object.replicas)":  "replicas: 3",
		"object.names.filter(n, n > 'a').size()":  int64(2),
		"has(object.missing) ? object.missing: 1": int64(1),
	} {
		program := compile(t, source)
		budget := expression.NewBudget(plenty)
		got, err := program.Evaluate(expression.NewSeries(t.Context(), object(t), nil, budget))
		if err != nil {
			t.Errorf("%s: %v", source, err)
		} else if got.Value() != want {
			t.Errorf("%s is %v, want %v", source, got.Value(), want)
		}
		if budget.Remaining() >= plenty {
			t.Errorf("%s cost nothing", source)
		}
	}
}

func TestRuntimeError(t *testing.T) {
	for source, want := range map[string]string{
		"object.missing == 1":     "expression 'object.missing == 1' resulted in error: no such key: missing",
		"1 / (object.replicas-3)": "expression '1 / (object.replicas-3)' resulted in error: division by zero",
		"object.names + 1 == 1":   "expression 'object.names + 1 == 1' resulted in error: no such overload",
		"request.name == 'a'":     "expression 'request.name == 'a'' resulted in error: no such attribute(s): request",
		"int(object.names[0])":    `expression 'int(object.names[0])' resulted in error: type conversion error from 'string' to 'int'`,
		// More than any single expression may cost.
		"object.text.contains(object.text)": "expression 'object.text.contains(object.text)' resulted in error: operation cancelled: actual cost limit exceeded",
	} {
		budget := expression.NewBudget(plenty)
		value, err := compile(t, source).Evaluate(expression.NewSeries(t.Context(), object(t), nil, budget))
		if err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %q", source, err, want)
		}
		if value != nil {
			t.Errorf("%s: value %v in spite of the error", source, value)
		}
		if expression.IsFatal(err) {
			t.Errorf("%s: an expression's own error is fatal", source)
		}
		if next, err := compile(t, "true").Evaluate(expression.NewSeries(t.Context(), object(t), nil, budget)); err != nil || next != types.True {
			t.Errorf("after %s: got %v, %v from the next expression", source, next, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := compile(t, "object.numbers.all(n, n == 0)").Evaluate(expression.NewSeries(ctx, object(t), nil, expression.NewBudget(plenty)))
	const want = "expression 'object.numbers.all(n, n == 0)' resulted in error: operation interrupted: context canceled"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %q", err, want)
	}
}

const exhausted = "validation failed due to running out of cost budget, no further validation rules will be run"

func wantExhausted(t *testing.T, err error, budget *expression.Budget) {
	t.Helper()
	if err == nil || err.Error() != exhausted {
		t.Errorf("error is %v, want %q", err, exhausted)
	}
	if !expression.IsFatal(err) {
		t.Error("the error is not fatal")
	}
	if !errors.Is(err, expression.ErrOutOfBudget) {
		t.Error("the cause is not ErrOutOfBudget")
	}
	if budget.Remaining() != -1 {
		t.Errorf("%d units remain, want -1", budget.Remaining())
	}
}

func TestBudget(t *testing.T) {
	for _, source := range []string{"object.names.all(n, n != 'd')", "object.names.all(n, n.missing)"} {
		program := compile(t, source)
		price := cost(t, program, object(t))
		if price <= 0 {
			t.Fatalf("%s costs %d", source, price)
		}

		exact := expression.NewBudget(price)
		if _, err := program.Evaluate(expression.NewSeries(t.Context(), object(t), nil, exact)); expression.IsFatal(err) {
			t.Errorf("%s: %v", source, err)
		}
		if exact.Remaining() != 0 {
			t.Errorf("%s: %d units remain, want 0", source, exact.Remaining())
		}
		if _, err := compile(t, "true").Evaluate(expression.NewSeries(t.Context(), object(t), nil, exact)); err != nil {
			t.Errorf("a constant costs nothing, but got %v", err)
		}
		_, err := program.Evaluate(expression.NewSeries(t.Context(), object(t), nil, exact))
		wantExhausted(t, err, exact)

		short := expression.NewBudget(price - 1)
		_, err = program.Evaluate(expression.NewSeries(t.Context(), object(t), nil, short))
		wantExhausted(t, err, short)
		_, err = compile(t, "true").Evaluate(expression.NewSeries(t.Context(), object(t), nil, short))
		wantExhausted(t, err, short)
	}
}

func TestIsFatal(t *testing.T) {
	for _, err := range []error{nil, errors.New("a"), expression.ErrOutOfBudget} {
		if expression.IsFatal(err) {
			t.Errorf("%v is fatal", err)
		}
	}
}

// withVariables declares the variables and returns a series for expressions that read them. Each
// variable may read the object and the variables before it.
func withVariables(t *testing.T, composition *expression.Composition, budget *expression.Budget, sources ...[2]string) *expression.Series {
	t.Helper()
	var variables []expression.Variable
	for _, v := range sources {
		program, err := composition.Declare(v[0], v[1], nothing, stored)
		variables = append(variables, expression.Variable{Name: v[0], Program: program, Err: err})
	}
	expression.Link(variables)
	return expression.NewSeries(t.Context(), object(t), variables, budget)
}

func TestVariablesAreChargedOnce(t *testing.T) {
	const source = "object.numbers.all(n, n == 0)"
	price := cost(t, compile(t, source), object(t))

	composition := expression.Default().Compose()
	budget := expression.NewBudget(plenty)
	series := withVariables(t, composition, budget, [2]string{"zeroes", source}, [2]string{"both", "variables.zeroes && variables.zeroes"})
	if budget.Remaining() != plenty {
		t.Errorf("unread variables cost %d", plenty-budget.Remaining())
	}
	program, err := composition.Compile("variables.both && variables.zeroes", nothing, stored, cel.BoolType)
	if err != nil {
		t.Fatal(err)
	}
	var prices []int64
	for range 3 {
		before := budget.Remaining()
		if value, err := program.Evaluate(series); err != nil || value != types.True {
			t.Fatalf("got %v, %v", value, err)
		}
		prices = append(prices, before-budget.Remaining())
	}
	if prices[1] != prices[2] || prices[1] >= price {
		t.Errorf("reading again cost %v, want the same both times and less than %d", prices[1:], price)
	}
	reading, err := composition.Compile("variables.zeroes && variables.zeroes", nothing, stored, cel.BoolType)
	if err != nil {
		t.Fatal(err)
	}
	before := budget.Remaining()
	if _, err := reading.Evaluate(series); err != nil {
		t.Fatal(err)
	}
	if want := price + before - budget.Remaining() + prices[1]; prices[0] != want {
		t.Errorf("the first reading cost %d, want %d", prices[0], want)
	}
}

func TestVariablesExhaustBudget(t *testing.T) {
	const source = "object.numbers.all(n, n == 0)"
	price := cost(t, compile(t, source), object(t))
	composition := expression.Default().Compose()
	budget := expression.NewBudget(price - 1)
	series := withVariables(t, composition, budget, [2]string{"zeroes", source})
	program, err := composition.Compile("variables.zeroes", nothing, stored, cel.BoolType)
	if err != nil {
		t.Fatal(err)
	}
	_, evaluateErr := program.Evaluate(series)
	wantExhausted(t, evaluateErr, budget)
}

func TestFailingVariables(t *testing.T) {
	for name, test := range map[string]struct{ reads, want string }{
		"does not compile":          {"variables.broken == 1", `composited variable "broken" fails to compile: compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>'`},
		"does not evaluate":         {"variables.failing", `composited variable "failing" fails to evaluate: no such key: missing`},
		"reads one that does not":   {"variables.reading", `composited variable "reading" fails to evaluate: composited variable "failing" fails to evaluate: no such key: missing`},
		"does not matter":           {"variables.good || variables.failing", ""},
		"does not matter, in front": {"variables.failing || variables.good", ""},
		"is not read":               {"variables.good", ""},
	} {
		t.Run(name, func(t *testing.T) {
			composition := expression.Default().Compose()
			budget := expression.NewBudget(plenty)
			series := withVariables(t, composition, budget,
				[2]string{"good", "true"},
				[2]string{"broken", "1 +"},
				[2]string{"failing", "object.missing == 1"},
				[2]string{"reading", "variables.failing && true"})
			program, compileErr := composition.Compile(test.reads, nothing, stored, cel.BoolType)
			if compileErr != nil {
				t.Fatal(compileErr)
			}
			value, err := program.Evaluate(series)
			if test.want == "" {
				if err != nil || value != types.True {
					t.Errorf("got %v, %v", value, err)
				}
				return
			}
			want := "expression '" + test.reads + "' resulted in error: " + test.want
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error is %v, want %s", err, want)
			}
			if expression.IsFatal(err) {
				t.Error("the error is fatal")
			}
		})
	}
}

func TestEvaluateConcurrently(t *testing.T) {
	celtest.CheckKept(t)
	composition := expression.Default().Compose()
	variable, err := composition.Declare("names", "object.names.map(n, n + '!')", nothing, stored)
	if err != nil {
		t.Fatal(err)
	}
	program, err := composition.Compile("variables.names.exists(n, n == 'b!')", nothing, stored, cel.BoolType)
	if err != nil {
		t.Fatal(err)
	}
	variables := []expression.Variable{{Name: "names", Program: variable}}
	var group sync.WaitGroup
	remaining := make([]int64, 16)
	for i := range remaining {
		group.Go(func() {
			budget := expression.NewBudget(plenty)
			series := expression.NewSeries(t.Context(), object(t), variables, budget)
			if value, err := program.Evaluate(series); err != nil || value != types.True {
				t.Errorf("got %v, %v", value, err)
			}
			remaining[i] = budget.Remaining()
		})
	}
	group.Wait()
	for _, r := range remaining {
		if r != remaining[0] {
			t.Fatalf("costs differ: %v", remaining)
		}
	}
}

// API validation accepts several variables of one name. All expressions read the last.
func TestVariablesOfOneName(t *testing.T) {
	for name, test := range map[string]struct {
		variables [][2]string
		reads     string
		want      string
	}{
		"the last counts":             {[][2]string{{"v", "1"}, {"v", "'one'"}}, "variables.v == 'one'", ""},
		"also for those before":       {[][2]string{{"v", "1"}, {"w", "variables.v + 1"}, {"v", "'one'"}}, "variables.w == 2", `composited variable "w" fails to evaluate: no such overload`},
		"reading itself":              {[][2]string{{"v", "1"}, {"v", "variables.v + 1"}}, "variables.v == 2", `composited variable reads itself`},
		"reading itself, with cel-go": {[][2]string{{"v", "1"}, {"v", "variables.v + optional.of(1).value()"}}, "variables.v == 2", `composited variable reads itself`},
	} {
		t.Run(name, func(t *testing.T) {
			composition := expression.Default().Compose()
			series := withVariables(t, composition, expression.NewBudget(plenty), test.variables...)
			program, compileErr := composition.Compile(test.reads, nothing, stored, cel.BoolType)
			if compileErr != nil {
				t.Fatal(compileErr)
			}
			value, err := program.Evaluate(series)
			if test.want == "" {
				if err != nil || value != types.True {
					t.Errorf("got %v, %v", value, err)
				}
				return
			}
			if want := "expression '" + test.reads + "' resulted in error: " + test.want; err == nil || err.Error() != want {
				t.Errorf("error is %v, want %s", err, want)
			}
		})
	}
}

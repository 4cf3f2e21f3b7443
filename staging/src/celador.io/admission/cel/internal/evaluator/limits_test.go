// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/internal/evaluator"
)

func mustCompile(t testing.TB, source string) *program {
	t.Helper()
	p, err := kubernetes().compile(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	if p.planned == nil {
		t.Fatalf("%s is left to cel-go: %v", source, p.reason)
	}
	return p
}

// TestCostLimit searches in strings so long that the search costs exactly as much as the limit of
// one expression.
func TestCostLimit(t *testing.T) {
	// cel-go charges two units for reading the variables. The search costs a tenth of one length
	// times a tenth of the other.
	const product = celconfig.PerCallLimit - 2
	factor := 20
	for product%factor != 0 {
		factor++
	}
	in := &input{name: "long texts", names: map[string]any{
		"s": strings.Repeat("a", product/factor*10), "t": strings.Repeat("b", factor*10), "b": false,
	}}
	if !check(t, mustCompile(t, "s.contains(t)"), in) {
		t.Error("an expression whose cost equals the limit has no value")
	}
	over := mustCompile(t, "s.contains(t) || b")
	if check(t, over, in) {
		t.Error("an expression whose cost exceeds the limit by one has a value")
	}
	if _, details, err := over.reference.ContextEval(t.Context(), in); err == nil || *details.ActualCost() != celconfig.PerCallLimit+1 {
		t.Errorf("cel-go comes to the cost %d and the error %v, so this does not test the limit", *details.ActualCost(), err)
	}
}

// texts returns two texts for which searching one in the other costs exactly the given units.
// It returns false if the texts would be too long.
func texts(units int) (string, string, bool) {
	for factor := 500; factor < 3000; factor++ {
		if units%factor == 0 {
			return strings.Repeat("a", units/factor*10), strings.Repeat("b", factor*10), true
		}
	}
	return "", "", false
}

// TestCostLimitEndsReads exceeds the cost limit before an expression reads a variable, after
// it, and between the parts of a cost that cel-go adds in steps.
func TestCostLimitEndsReads(t *testing.T) {
	var programs []*program
	for _, source := range []string{
		"s.contains(t) || variables.number == 7",
		"(s.contains(t) ? 1 : 0) == variables.number",
		"[dyn(s.contains(t)), dyn(variables.text), dyn(variables.number)].size() == 3",
		"{'a': dyn(s.contains(t)), 'b': dyn(variables.text)}.size() == 2",
		"{s.contains(t): {variables.text: variables.number}}.size() == 1",
		"'b'.replace(s.contains(t) ? 'a' : 'b', variables.text) == variables.text",
		"s.contains(t) ? b : variables.text.startsWith('t') && b",
		"s.contains(t) || anys[variables.number] == lists[lists[0][0]][variables.number]",
		"s.contains(t) || has(any.map[variables.text].x)",
		"s.contains(t) || has(variables.any.x)",
		"s.contains(t) || has(object.spec.template.spec.containers[variables.number].x)",
		"s.contains(t) || ints.map(x, ints.map(y, texts.map(z, texts.map(v, variables.number)))) == []",
		"s.contains(t) || (b ? scores : scores)[variables.text] == 1",
		"s.contains(t) || ints.map(x, variables.number) == ints",
		"s.contains(t) || ints.map(x, x > 0, ints.map(y, [y, variables.number])) == []",
		"s.contains(t) || ints.filter(x, variables.number == x) == ints",
		"s.contains(t) || ints.all(x, texts.exists(y, y == variables.text || x == variables.number))",
		"s.contains(t) || cel.bind(x, variables.number, b ? x : variables.number) == 1",
		"s.contains(t) || cel.bind(x, [], texts.map(y, x + [variables.text])) == []",
		"s.contains(t) || authorizer.requestResource.check('get').allowed() && variables.number == 7",
		"!s.contains(t) && variables.text in ['a', variables.text]",
		"[s.contains(t) || variables.number == 7].all(x, x == (variables.text == ''))",
	} {
		programs = append(programs, mustCompile(t, source))
	}
	in := inputs()["typed"]
	in.name = "long texts"
	read, unread := 0, 0
	for less := -5; less < 150; less++ {
		text, part, ok := texts(celconfig.PerCallLimit - less)
		if !ok {
			continue
		}
		in.names["s"], in.names["t"] = text, part
		for _, p := range programs {
			check(t, p, in)
			if len(in.reads) > 0 {
				read++
			} else {
				unread++
			}
		}
	}
	if read == 0 || unread == 0 {
		t.Errorf("cel-go reads variables in %d evaluations and none in %d: this does not test the limit", read, unread)
	}
}

// TestCostLimitEndsCalls checks that the authorizer, whose checks are expensive, is called as
// often as by cel-go.
func TestCostLimitEndsCalls(t *testing.T) {
	const check = "authorizer.group('').resource('pods').namespace('%d').check('get').allowed()"
	var checks []string
	for i := range 6 {
		checks = append(checks, fmt.Sprintf(check, i))
	}
	p := mustCompile(t, strings.Join(checks, " && "))
	authorizations := func(evaluate func(*input)) int {
		counting := &countingAuthorizer{}
		in := inputs()["typed"]
		in.names["authorizer"] = library.NewAuthorizerVal(&user.DefaultInfo{Name: "jane"}, counting)
		evaluate(in)
		return counting.n
	}
	got := authorizations(func(in *input) { p.planned.Evaluate(&evaluator.Stack{}, nil, celconfig.PerCallLimit, in) })
	want := authorizations(func(in *input) { _, _, _ = p.reference.ContextEval(t.Context(), in) })
	if got != want || want == 0 || want == len(checks) {
		t.Errorf("calls the authorizer %d times, want %d, which must be between 0 and %d", got, want, len(checks))
	}
}

// A countingAuthorizer counts its calls.
type countingAuthorizer struct {
	testAuthorizer
	n int
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (q *countingAuthorizer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	q.n++
	return q.testAuthorizer.Authorize(ctx, a)
}

// A counted list counts the reads of its elements.
type counted struct {
	traits.Lister
	reads int
}

func (c *counted) Get(index ref.Val) ref.Val {
	c.reads++
	return c.Lister.Get(index)
}

func numbers(n int) *counted {
	return &counted{Lister: types.NewDynamicList(types.DefaultTypeAdapter, make([]int, n))}
}

// loops holds loops over ints. The verb is replaced by a subexpression, which may contain further
// loops.
var loops = []string{
	"ints.all(x, %s == x)", "ints.exists(x, %s != x)", "ints.map(x, %s) == []", "ints.map(x, x == 0, %s) == []", "ints.filter(x, %s == x) == []",
	"ints.exists_one(x, %s != x)", "cel.bind(y, 0, ints.all(x, %s == y))",
}

func TestCostlyLoopEnds(t *testing.T) {
	for _, loop := range loops {
		ints := numbers(2000)
		in := &input{name: "many numbers", names: map[string]any{"ints": ints}}
		source := fmt.Sprintf(loop, "(ints.all(y, ints.all(z, z == y)) ? 0 : 1)")
		if _, _, ok := mustCompile(t, source).planned.Evaluate(&evaluator.Stack{}, t.Context().Done(), celconfig.PerCallLimit, in); ok {
			t.Errorf("%s has a value", source)
		}
		if ints.reads == 0 || ints.reads > celconfig.PerCallLimit {
			t.Errorf("%s reads %d elements", source, ints.reads)
		}
	}
}

func TestCancelledLoopEnds(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, loop := range loops {
		p := mustCompile(t, fmt.Sprintf(loop, "0"))
		ints := numbers(100 * celconfig.CheckFrequency)
		if checkWith(t, cancelled, p, &input{name: "many numbers", names: map[string]any{"ints": ints}}) {
			t.Errorf("%s has a value", p.source)
		}
		ints.reads = 0
		p.planned.Evaluate(&evaluator.Stack{}, cancelled.Done(), celconfig.PerCallLimit, &input{names: map[string]any{"ints": ints}})
		if ints.reads == 0 || ints.reads > celconfig.CheckFrequency {
			t.Errorf("%s reads %d elements", p.source, ints.reads)
		}
		// cel-go checks the context once every CheckFrequency iterations.
		for n := range 2*celconfig.CheckFrequency + 2 {
			in := &input{name: fmt.Sprintf("%d numbers", n), names: map[string]any{"ints": numbers(n)}}
			if got, want := checkWith(t, cancelled, p, in), n < celconfig.CheckFrequency; got != want {
				t.Errorf("%s with %d elements has a value: %t", p.source, n, got)
			}
		}
	}
	// Iterations of nested loops count too.
	nested := mustCompile(t, "ints.all(x, ints.map(y, y).filter(z, z == 0).size() == ints.size())")
	for n := range 20 {
		in := &input{name: fmt.Sprintf("%d numbers", n), names: map[string]any{"ints": numbers(n)}}
		if got, want := checkWith(t, cancelled, nested, in), n*(n+n+1) < celconfig.CheckFrequency; got != want {
			t.Errorf("%s with %d elements has a value: %t", nested.source, n, got)
		}
	}
}

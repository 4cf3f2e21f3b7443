// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/internal/limits"
)

// repeated holds expressions with loops in which a macro repeats a subexpression, or an error ends
// the evaluation of a call between its arguments.
var repeated = []string{
	"ints.all(x, optional.of(x).optMap(y, y + 1).orValue(0) > 0)", "ints.map(x, optional.of(ints.map(y, y + x)).optMap(l, l.size() + i).orValue(0))", "ints.exists(x, lists[?x].optFlatMap(l, l.first()).orValue(0) + size(s) > 3)",
	"optional.of(ints.filter(x, x > 1)).optMap(l, l.map(x, x + l.size())).orValue([]) == ints", "ints.exists(x, s.replace(texts[x], s.replace(t, s)) == t || x == 2)", "ints.exists(x, size(s) + lists[x].size() + size(t) > 100 || x == 2)",
	"ints.map(x, ints.map(y, {'a': y}).map(m, size(s) + m.?a.orValue(0) + m.?b.orValue(size(t)))) == []", "ints.exists(x, 1 / (x - 1) + size(s) > 0 || size(t) > 100)", "lists.map(l, l.sortBy(x, -x)).map(l, l.size() > 0 ? l[0] : size(s)) == ints",
}

// TestIterations compares cel-go's programs with and without the calls that limits.WithIterations
// adds: they have the same values, costs and errors, and read the same variables.
func TestIterations(t *testing.T) {
	sources := slices.Concat(repeated, expressions(t, "ordinary.txt"), expressions(t, "unusual.txt"))
	for seed := range uint64(2000) {
		sources = append(sources, generate(random(7000+seed)))
	}
	ins := inputs()
	l, compared := kubernetes(), 0
	for _, source := range sources {
		p, err := l.compile(source)
		if err != nil {
			if slices.Contains(repeated, source) {
				t.Errorf("%s: %v", source, err)
			}
			continue
		}
		checked := p.ast.NativeRep()
		marked, err := l.PlanProgram(limits.WithIterations(checked), cel.InterruptCheckFrequency(celconfig.CheckFrequency), cel.CustomDecoratorV2(limits.Decorator(checked, l.library)))
		if err != nil {
			t.Errorf("%s is not planned: %v", source, err)
			continue
		}
		for _, name := range []string{"typed", "native", "unusual types", "errors", "empty"} {
			var results [2]string
			for range evaluationsOfRandomOrder {
				for i, program := range []cel.Program{p.reference, marked} {
					reads := ins[name].readsOf(func() {
						value, details, err := program.ContextEval(t.Context(), ins[name])
						results[i] = fmt.Sprintf("%v, %v, cost %d", value, err, *details.ActualCost())
					})
					results[i] += fmt.Sprintf(", reads %v", reads)
				}
				if results[0] == results[1] {
					break
				}
			}
			if results[0] != results[1] {
				t.Errorf("%s with the input %s: %s, want %s", source, name, results[1], results[0])
			}
			compared++
		}
	}
	if compared < 10_000 {
		t.Errorf("only %d evaluations", compared)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"fmt"
	"testing"

	"celador.io/admission/cel/expression"
)

// BenchmarkLoops evaluates loops over lists of two sizes. The time of one iteration should not
// depend on the size, whether closures or cel-go evaluate the loop: cel-go evaluates macros that
// repeat an expression, and what ends with an error.
func BenchmarkLoops(b *testing.B) {
	for _, source := range []string{
		"object.numbers.all(x, x >= 0)", "lists.range(size(object.numbers)).all(i, object.numbers[i] >= 0)", "object.numbers.all(x, sets.contains([x], [x]))", "object.numbers.map(x, x + 1).slice(1, 9).size() == 8",
		"object.numbers.all(x, optional.of(x).optMap(y, y + 1).orValue(0) > 0)", "object.numbers.all(x, x >= 0) && object.numbers[1000000] > 0",
	} {
		for _, size := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", source, size), func(b *testing.B) {
				numbers := make([]any, size)
				for i := range numbers {
					numbers[i] = int64(i)
				}
				program, activation := compile(b, source), values(b, map[string]any{"object": map[string]any{"numbers": numbers}})
				for b.Loop() {
					_, _ = program.Evaluate(expression.NewSeries(b.Context(), activation, nil, expression.NewBudget(plenty)))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/iteration")
			})
		}
	}
}

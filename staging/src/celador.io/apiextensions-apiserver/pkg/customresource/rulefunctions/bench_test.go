// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions_test

import (
	"fmt"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"

	"celador.io/admission/cel/schemaexpression"
)

// BenchmarkLoops evaluates loops over lists of two sizes. The time of one iteration should not
// depend on the size, whether closures or cel-go evaluate the loop: cel-go evaluates what ends with
// an error.
func BenchmarkLoops(b *testing.B) {
	schema := schemaexpression.NewSchema(&model.Structural{Structural: selfSchema})
	for _, source := range []string{
		"self.numbers.all(x, x >= 0)", "self.numbers.all(x, x >= 0 && self.text.size() > 2)", "self.numbers.all(x, math.abs(x) >= 0)", "lists.range(size(self.numbers)).all(i, self.numbers[i] >= 0)",
		"self.numbers.all(x, self.a.remove('k').size() < 9)", "self.numbers.all(x, regex.extract(self.text, 'a').hasValue())", "self.numbers.reverse().all(x, x >= 0)",
		"self.numbers.all(x, x >= 0) && self.numbers[1000000] > 0",
	} {
		for _, size := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", source, size), func(b *testing.B) {
				in := self()
				numbers := make([]any, size)
				for i := range numbers {
					numbers[i] = int64(i)
				}
				in["numbers"] = numbers
				expression, invalid := env().Compile(source)
				if invalid != nil {
					b.Fatal(invalid)
				}
				program, err := expression.Program()
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					program.Evaluate(b.Context(), &schemaexpression.Activation{Self: schemaexpression.Value(in, schema)})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/iteration")
			})
		}
	}
}

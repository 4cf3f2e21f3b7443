// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package celtest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"celador.io/admission/panics"
)

// expected counts the panics that ExpectPanics has allowed.
var expected atomic.Uint64

// ExpectPanics lets the evaluator panic until the test ends, without RunWithoutPanics failing for
// it. The test must not run in parallel.
func ExpectPanics(t testing.TB) {
	before := evaluatorPanics()
	t.Cleanup(func() { expected.Add(evaluatorPanics() - before) })
}

// RunWithoutPanics runs all tests of a package, and returns the exit code: the result of run, or 1
// if the evaluator has panicked. When the evaluator panics, cel-go evaluates the expression
// instead, so no result of a test shows the defect. Panics that cel-go repeats when it evaluates
// the expression, and those after ExpectPanics, do not count.
func RunWithoutPanics(run func() int) int {
	before := evaluatorPanics()
	code := run()
	if n := evaluatorPanics() - before - expected.Load(); n > 0 {
		fmt.Printf("--- FAIL: the evaluator panicked %d times: the logs have the expressions\n", n)
		code = max(code, 1)
	}
	return code
}

func evaluatorPanics() (n uint64) {
	panics.Counts(func(component panics.Component, recovered uint64) {
		if component == panics.Evaluator {
			n = recovered
		}
	})
	return n
}

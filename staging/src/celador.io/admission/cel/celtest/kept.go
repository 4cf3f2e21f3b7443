// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package celtest checks in tests that what evaluations keep and share does not change, and that
// the evaluator does not panic.
package celtest

import (
	"fmt"
	"testing"

	"celador.io/admission/cel/internal/fingerprint"
)

// CheckKept fails the test if a value changes while evaluations keep or share it: a variable, a
// result that policies share, or a constant of a program. Engines that run before or after the
// test, or that the test uses in another process, are not checked.
func CheckKept(t testing.TB) {
	t.Helper()
	if fingerprint.Enabled() { // by RunChecked, which checks all tests
		return
	}
	end := fingerprint.Begin()
	t.Cleanup(func() {
		for _, change := range end() {
			t.Errorf("a value that was kept has changed: %s", change)
		}
	})
}

// RunChecked runs all tests of a package with the checks of CheckKept and of RunWithoutPanics. It
// returns the exit code: the result of run, or 1 if a kept value has changed or the evaluator has
// panicked.
func RunChecked(run func() int) int {
	end := fingerprint.Begin()
	code := RunWithoutPanics(run)
	for _, change := range end() {
		fmt.Println("--- FAIL: a value that was kept has changed:", change)
		code = max(code, 1)
	}
	return code
}

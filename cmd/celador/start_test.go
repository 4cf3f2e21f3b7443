// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
)

// BenchmarkStart measures celador test on one small suite, from the start of the process to its
// end.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if stdout, stderr, code := run(b, celador(b, "", "test", "../../examples/replica-limit/suite.yaml")); code != 0 {
			b.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
		}
	}
}

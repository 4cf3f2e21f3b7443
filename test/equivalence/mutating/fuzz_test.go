// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

// FuzzEquivalence looks for policies and requests for which the plugins differ.
func FuzzEquivalence(f *testing.F) {
	for i := range uint64(10) {
		f.Add(uint64(2), i)
	}
	f.Fuzz(func(t *testing.T, seed, number uint64) {
		g := newGenerator(seed, number)
		s := g.scenario()
		if got := compareIn(t, s, g.requests()); got.Unexplained != nil {
			t.Errorf("%s\n%s", harness.YAML(s), got)
		}
	})
}

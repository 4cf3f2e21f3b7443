// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

// FuzzEquivalence looks for scenarios and requests for which the plugins differ.
func FuzzEquivalence(f *testing.F) {
	f.Add([]byte(nil))
	for i := range 20 {
		f.Add(harness.Recording(uint64(i), 20*(i+1)))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		g := &generator{Generator: harness.Generator{Dice: harness.NewTape(choices)}}
		s := g.scenario()
		requests := g.requests()
		if got := compareIn(t, s, requests); got.Unexplained != nil {
			t.Errorf("%s\n%s", describe(s, requests), got)
		}
	})
}

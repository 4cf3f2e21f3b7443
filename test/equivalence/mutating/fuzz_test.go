// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"math/rand/v2"
	"testing"
)

// FuzzEquivalence looks for policies and requests about which the plugins differ.
func FuzzEquivalence(f *testing.F) {
	for i := range uint64(10) {
		f.Add(uint64(2), i)
	}
	f.Fuzz(func(t *testing.T, seed, sequence uint64) {
		g := &generator{dice: rand.New(rand.NewPCG(seed, sequence))}
		s := g.scenario()
		if got := compareIn(t, s, g.requests()); got.unexplained != nil {
			t.Errorf("%s\n%s", describe(s), got)
		}
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"math/rand/v2"
	"testing"
)

// tape are dice whose numbers are on a tape. Where that ends, all is as simple as it can be.
type tape struct{ rest []byte }

// IntN implements dice.
func (t *tape) IntN(n int) int {
	if len(t.rest) == 0 {
		return 0
	}
	number := int(t.rest[0]) % n
	t.rest = t.rest[1:]
	return number
}

// recording returns a tape full of random numbers.
func recording(seed uint64, length int) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	result := make([]byte, length)
	for i := range result {
		result[i] = byte(random.Uint32())
	}
	return result
}

// FuzzEquivalence looks for policies, params and requests about which the plugins differ.
func FuzzEquivalence(f *testing.F) {
	f.Add([]byte(nil))
	for i := range 20 {
		f.Add(recording(uint64(i), 20*(i+1)))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		g := &generator{dice: &tape{choices}}
		s := g.scenario()
		requests := g.requests()
		if got := compareIn(t, s, requests); got.unexplained != nil {
			t.Errorf("%s\n%s", describe(s, requests), got)
		}
	})
}

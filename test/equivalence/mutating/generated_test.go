// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"flag"
	"math/rand/v2"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	seed      = flag.Uint64("seed", 1, "where made-up policies start from")
	first     = flag.Uint64("first", 0, "the first scenario to make up")
	scenarios = flag.Int("scenarios", 250, "how many scenarios to make up")
)

// shares are how many of a hundred outcomes have to be of a sort. Were they nearly all the
// same, equality would prove little.
var shares = map[string]int{"refused": 15, "changed": 20, "unchanged": 15, "again": 20, "mistaken": 3}

func TestGenerated(t *testing.T) {
	counted := map[string]int{}
	outcomes, explained := 0, map[string]int{}
	for i := *first; i < *first+uint64(*scenarios); i++ {
		g := &generator{dice: rand.New(rand.NewPCG(*seed, i))}
		s := g.scenario()
		requests := g.requests()
		got := compareIn(t, s, requests)
		if got.unexplained != nil {
			smaller, fewer := shrink(t, s, requests)
			if again := compareIn(t, smaller, fewer); again.unexplained != nil {
				s, got = smaller, again
			}
			t.Fatalf("again with -seed=%d -first=%d -scenarios=1\n%s\n%s", *seed, i, describe(s), got)
		}
		for _, name := range got.explained {
			explained[name]++
		}
		for name, o := range got.outcomes {
			outcomes++
			for sort, is := range map[string]bool{
				"refused": o.last().Error != "", "changed": o.last().Object != encode(t, requests[name], requests[name].object), "unchanged": o.last().Object == encode(t, requests[name], requests[name].object),
				"again": len(o.Rounds) > 1, "mistaken": o.mistaken(),
			} {
				if is {
					counted[sort]++
				}
			}
		}
	}
	t.Logf("%d scenarios, %d outcomes: %v; explained differences: %v", *scenarios, outcomes, counted, explained)
	for sort, share := range shares {
		if *scenarios >= 100 && counted[sort]*100 < outcomes*share {
			t.Errorf("%d of %d outcomes are of the sort %q, want %d%%", counted[sort], outcomes, sort, share)
		}
	}
}

// describe returns policies and bindings in YAML.
func describe(s scenario) string {
	text, err := yaml.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

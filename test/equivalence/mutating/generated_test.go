// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"flag"
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

var scenarios = flag.Int("scenarios", 250, "number of generated scenarios")

// shares are the percentages of outcomes that must have a property.
var shares = map[string]int{"refused": 15, "changed": 20, "unchanged": 15, "again": 20, "mistaken": 3}

// TestGenerated compares the outcomes of generated requests to generated policies.
func TestGenerated(t *testing.T) {
	var outcomes harness.Shares
	explained := map[string]int{}
	for i := *harness.First; i < *harness.First+uint64(*scenarios); i++ {
		g := newGenerator(*harness.Seed, i)
		s := g.scenario()
		requests := g.requests()
		got := compareIn(t, s, requests)
		if got.Unexplained != nil {
			smaller, fewer := shrink(t, s, requests)
			if again := compareIn(t, smaller, fewer); again.Unexplained != nil {
				s, got = smaller, again
			}
			t.Fatalf("again with -seed=%d -first=%d -scenarios=1\n%s\n%s", *harness.Seed, i, harness.YAML(s), got)
		}
		for _, name := range got.Explained {
			explained[name]++
		}
		for name, o := range got.outcomes {
			unchanged := o.last().Object == encode(t, requests[name], requests[name].Object)
			outcomes.Add(map[string]bool{"refused": o.last().Error != "", "changed": !unchanged, "unchanged": unchanged, "again": len(o.Rounds) > 1, "mistaken": o.mistaken()})
		}
	}
	t.Logf("%d scenarios, %d outcomes: %v; explained differences: %v", *scenarios, outcomes.Outcomes, outcomes.Count, explained)
	if *scenarios >= 100 {
		outcomes.Check(t, shares)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"flag"
	"strings"
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

var scenarios = flag.Int("scenarios", 250, "number of generated scenarios")

// shares are the percentages of outcomes that must have a property.
var shares = map[string]int{"called": 30, "not called": 15, "refused": 20, "allowed": 25, "changed": 5, "again": 3, "warned": 4, "annotated": 20}

// TestGenerated compares the outcomes of generated requests to generated webhooks.
func TestGenerated(t *testing.T) {
	var outcomes harness.Shares
	calls, explained := 0, 0
	observed := map[string]float64{}
	for i := *harness.First; i < *harness.First+uint64(*scenarios); i++ {
		g := &generator{Generator: harness.NewGenerator(*harness.Seed, i)}
		s := g.scenario()
		requests := g.requests()
		got := compareIn(t, s, requests)
		if got.Unexplained != nil {
			s, requests = shrink(t, s, requests)
			t.Fatalf("again with -seed=%d -first=%d -scenarios=1\n%s\n%s", *harness.Seed, i, harness.YAML(s), compareIn(t, s, requests))
		}
		explained += len(got.Explained)
		for _, in := range steps {
			for name, o := range got.outcomes[in] {
				calls += len(o.Calls)
				outcomes.Add(map[string]bool{
					"called": len(o.Calls) > 0, "not called": len(o.Calls) == 0, "refused": o.Error != "", "allowed": o.Error == "", "changed": o.changed(requests[name].Object),
					"again": o.Again, "warned": o.Warnings != nil, "annotated": len(o.Annotations) > 0,
				})
			}
		}
		for metric, count := range got.observed {
			name, _, _ := strings.Cut(metric, " ")
			observed[name] += count
		}
	}
	t.Logf("%d scenarios, %d outcomes with %d calls: %v, %d explained differences; metrics: %v", *scenarios, outcomes.Outcomes, calls, outcomes.Count, explained, observed)
	if *scenarios < 100 {
		return
	}
	outcomes.Check(t, shares)
	for _, metric := range compared {
		if observed[metric] == 0 {
			t.Errorf("metric %s was never observed", metric)
		}
	}
}

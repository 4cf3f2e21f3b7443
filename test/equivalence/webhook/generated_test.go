// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"flag"
	"math/rand/v2"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	seed      = flag.Uint64("seed", 1, "where made-up webhooks start from")
	first     = flag.Uint64("first", 0, "the first scenario to make up")
	scenarios = flag.Int("scenarios", 250, "how many scenarios to make up")
)

// shares are how many of a hundred outcomes have to be of a sort. Were they nearly all the
// same, equality would prove little.
var shares = map[string]int{"asked": 30, "not asked": 15, "refused": 20, "allowed": 25, "changed": 5, "again": 3, "warned": 4, "annotated": 20}

func TestGenerated(t *testing.T) {
	counted := map[string]int{}
	outcomes, calls, explained := 0, 0, 0
	observed := map[string]float64{}
	for i := *first; i < *first+uint64(*scenarios); i++ {
		g := &generator{dice: rand.New(rand.NewPCG(*seed, i))}
		s := g.scenario()
		requests := g.requests()
		got := compareIn(t, s, requests)
		if got.unexplained != nil {
			s, requests = shrink(t, s, requests)
			t.Fatalf("again with -seed=%d -first=%d -scenarios=1\n%s\n%s", *seed, i, describe(s), compareIn(t, s, requests))
		}
		explained += len(got.explained)
		for _, in := range steps {
			for name, o := range got.outcomes[in] {
				outcomes++
				calls += len(o.Calls)
				for _, sort := range o.sorts(requests[name]) {
					counted[sort]++
				}
			}
		}
		for metric, count := range got.observed {
			observed[family(metric)] += count
		}
	}
	t.Logf("%d scenarios, %d outcomes with %d calls: %v, %d explained differences; metrics: %v", *scenarios, outcomes, calls, counted, explained, observed)
	for sort, share := range shares {
		if *scenarios >= 100 && counted[sort]*100 < outcomes*share {
			t.Errorf("%d of %d outcomes are of the sort %q, want %d%%", counted[sort], outcomes, sort, share)
		}
	}
	for metric := range compared {
		if *scenarios >= 100 && observed[metric] == 0 {
			t.Errorf("metric %s was never observed", metric)
		}
	}
}

// sorts returns what an outcome is an example of.
func (o outcome) sorts(r request) []string {
	var result []string
	for sort, is := range map[string]bool{
		"asked": len(o.Calls) > 0, "not asked": len(o.Calls) == 0, "refused": o.Error != "", "allowed": o.Error == "", "changed": o.changed(r.object),
		"again": o.Again, "warned": o.Warnings != nil, "annotated": len(o.Annotations) > 0,
	} {
		if is {
			result = append(result, sort)
		}
	}
	return result
}

// describe returns the webhooks in YAML.
func describe(s scenario) string {
	text, err := yaml.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

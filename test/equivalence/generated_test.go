// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	seed     = flag.Uint64("seed", 1, "where made-up policies start from")
	first    = flag.Uint64("first", 0, "the first scenario to make up")
	policies = flag.Int("policies", 5000, "how many policies to make up")
)

// shares are how many of a hundred outcomes have to be of a sort. Were they nearly all the
// same, equality would prove little.
var shares = map[string]int{
	"denied": 20, "admitted": 25, "failed": 8, "does not compile": 2, "misconfigured": 3, "warned": 8, "audited": 8, "annotated": 8,
	"conditions not met": 5, "params found": 2, "params not found": 1,
}

func TestGenerated(t *testing.T) {
	counted := map[string]int{}
	outcomes, scenarios, explained, left := 0, 0, 0, *policies
	for i := *first; left > 0; i++ {
		g := &generator{dice: rand.New(rand.NewPCG(*seed, i))}
		s := g.scenario()
		requests := g.requests()
		got := compareIn(t, s, requests)
		if got.unexplained != nil {
			s, requests = shrink(t, s, requests)
			t.Fatalf("again with -seed=%d -first=%d -policies=1\n%s\n%s", *seed, i, describe(s, requests), compareIn(t, s, requests))
		}
		left -= len(s.Policies)
		scenarios++
		explained += len(got.explained)
		for _, outcome := range got.celador {
			outcomes++
			for _, sort := range outcome.sorts() {
				counted[sort]++
			}
		}
		for metric, count := range got.checks {
			if strings.HasPrefix(metric, "apiserver_admission_match_condition_evaluation_seconds ") {
				counted["conditions not met"] += int(count)
			}
		}
	}
	t.Logf("%d policies in %d scenarios, %d outcomes: %v, %d explained differences", *policies-left, scenarios, outcomes, counted, explained)
	for sort, share := range shares {
		if *policies >= 1000 && counted[sort]*100 < outcomes*share {
			t.Errorf("%d of %d outcomes are of the sort %q, want %d%%", counted[sort], outcomes, sort, share)
		}
	}
}

// sorts returns what an outcome is an example of.
func (o outcome) sorts() []string {
	var result []string
	add := func(sort string, is bool) {
		if is {
			result = append(result, sort)
		}
	}
	text := o.text()
	add("denied", o.Error != "")
	add("admitted", o.Error == "")
	add("failed", strings.Contains(text, "resulted in error"))
	add("does not compile", strings.Contains(text, "compilation error"))
	add("misconfigured", strings.Contains(text, "failed to configure"))
	add("out of budget", strings.Contains(text, "running out of cost budget"))
	add("warned", o.Warnings != nil)
	add("audited", o.Annotations[failuresAnnotation] != "")
	add("params not found", strings.Contains(text, "no params found"))
	for key, value := range o.Annotations {
		if key == failuresAnnotation {
			continue
		}
		add("annotated", !slices.Contains(result, "annotated"))
		add("params found", strings.HasSuffix(key, "/params") && value != "none" && !slices.Contains(result, "params found"))
	}
	return result
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"flag"
	"strings"
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

var policies = flag.Int("policies", 5000, "number of generated policies")

// shares are the percentages of outcomes that must have a property.
var shares = map[string]int{
	"denied": 20, "admitted": 25, "failed": 8, "does not compile": 2, "misconfigured": 3, "warned": 8, "audited": 8, "annotated": 8,
	"conditions not met": 5, "params found": 2, "params not found": 1,
}

// TestGenerated compares the outcomes of generated requests to generated policies.
func TestGenerated(t *testing.T) {
	var outcomes harness.Shares
	scenarios, explained, left := 0, 0, *policies
	for i := *harness.First; left > 0; i++ {
		g := &generator{Generator: harness.NewGenerator(*harness.Seed, i)}
		s := g.scenario()
		requests := g.requests()
		got := compareIn(t, s, requests)
		if got.Unexplained != nil {
			s, requests = shrink(t, s, requests)
			got = compareIn(t, s, requests)
			t.Fatalf("again with -seed=%d -first=%d -policies=1\n%s\n%s", *harness.Seed, i, describe(s, requests), got)
		}
		left -= len(s.Policies)
		scenarios++
		explained += len(got.Explained)
		for _, outcome := range got.celador {
			outcomes.Add(outcome.properties())
		}
		for metric, count := range got.observed {
			if strings.HasPrefix(metric, "apiserver_admission_match_condition_evaluation_seconds ") {
				outcomes.Count["conditions not met"] += int(count)
			}
		}
	}
	t.Logf("%d policies in %d scenarios, %d outcomes: %v, %d explained differences", *policies-left, scenarios, outcomes.Outcomes, outcomes.Count, explained)
	if *policies >= 1000 {
		outcomes.Check(t, shares)
	}
}

// properties returns which properties an outcome has.
func (o outcome) properties() map[string]bool {
	text := o.text()
	result := map[string]bool{
		"denied":           o.Error != "",
		"admitted":         o.Error == "",
		"failed":           strings.Contains(text, "resulted in error"),
		"does not compile": strings.Contains(text, "compilation error"),
		"misconfigured":    strings.Contains(text, "failed to configure"),
		"out of budget":    strings.Contains(text, "running out of cost budget"),
		"warned":           o.Warnings != nil,
		"audited":          o.Annotations[failuresAnnotation] != "",
		"params not found": strings.Contains(text, "no params found"),
	}
	for key, value := range o.Annotations {
		if key != failuresAnnotation {
			result["annotated"] = true
			result["params found"] = result["params found"] || strings.HasSuffix(key, "/params") && value != "none"
		}
	}
	return result
}

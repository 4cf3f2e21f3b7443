// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"reflect"
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

// compared are the metrics that both plugins must record alike.
var compared = harness.Metrics{
	"apiserver_mutating_admission_policy_check_total",
	"apiserver_mutating_admission_policy_check_duration_seconds",
	"apiserver_admission_match_condition_evaluation_errors_total",
	"apiserver_admission_match_condition_evaluation_seconds",
	"apiserver_admission_match_condition_exclusions_total",
}

// comparison holds the outcomes of requests and how they differ.
type comparison struct {
	harness.Comparison
	// outcomes map the names of requests to Celador's outcomes.
	outcomes map[string]outcome
}

// compare sends the requests to both plugins.
func (c *cluster) compare(t *testing.T, requests map[string]request) comparison {
	t.Helper()
	result := comparison{outcomes: map[string]outcome{}}
	for _, name := range harness.Names(requests) {
		r := requests[name]
		ours := c.examine(t, c.celador, r)
		theirs := c.inSomeOrder(t, r, ours)
		result.outcomes[name] = ours
		result.Compare(name, theirs, ours, func() string { return c.explain(r, ours, theirs) })
	}
	return result
}

// inSomeOrder returns the outcome want if Kubernetes' plugin returns it in one of the orders in
// which it evaluates policies, and another outcome otherwise. Kubernetes' plugin evaluates
// policies, bindings and params in the order of Go maps, Celador's in the order of their names,
// and both collect errors of an apply configuration in the order of a map. There are at most
// six orders.
func (c *cluster) inSomeOrder(t *testing.T, r request, want outcome) outcome {
	t.Helper()
	const tries = 200
	answer := c.examine(t, c.upstream, r)
	for range tries {
		if reflect.DeepEqual(answer, want) || c.explain(r, want, answer) != "" || c.ordered() && !(want.mistaken() && answer.mistaken()) {
			break
		}
		if !c.ordered() {
			c.Shuffle(t)
		}
		answer = c.examine(t, c.upstream, r)
	}
	return answer
}

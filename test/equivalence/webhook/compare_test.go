// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/celador/test/equivalence/harness"
)

// compared are the metrics that both plugins must record alike.
var compared = harness.Metrics{
	"apiserver_admission_webhook_admission_duration_seconds",
	"apiserver_admission_webhook_rejection_count",
	"apiserver_admission_webhook_fail_open_count",
	"apiserver_admission_webhook_request_total",
	"apiserver_admission_match_condition_evaluation_errors_total",
	"apiserver_admission_match_condition_evaluation_seconds",
	exclusions,
	proposed,
}

const (
	exclusions = "apiserver_admission_match_condition_exclusions_total"
	// proposed is the name of the same metric in KEP-3716. Only Celador records it.
	proposed = "webhook_admission_match_condition_exclusions_total"
)

// comparison holds the outcomes of requests and how they differ.
type comparison struct {
	harness.Comparison
	// outcomes are Celador's, by step and by the name of the request.
	outcomes [2]map[string]outcome
	// observed are Celador's metrics.
	observed harness.Counts
}

// compare sends the requests to the plugins of both steps.
func (c *cluster) compare(t *testing.T, requests map[string]request) comparison {
	t.Helper()
	result := comparison{outcomes: [2]map[string]outcome{{}, {}}}
	theirs := [2]map[string]outcome{{}, {}}
	names := harness.Names(requests)
	before := compared.Read(t)
	for _, in := range steps {
		for _, name := range names {
			result.outcomes[in][name] = c.celador[in].examine(t, in, requests[name])
		}
	}
	between := compared.Read(t)
	for _, in := range steps {
		for _, name := range names {
			theirs[in][name] = c.upstream[in].examine(t, in, requests[name])
		}
	}
	after := compared.Read(t)
	result.observed = between.Since(before)

	countsDiffer := false
	for called, in := range steps {
		for _, name := range names {
			ours, theirs := result.outcomes[in][name], theirs[in][name]
			result.Compare(called+", "+name, theirs, ours, func() string {
				d := c.explain(t, in, requests[name], ours, theirs)
				countsDiffer = countsDiffer || d.countsDiffer
				return d.name
			})
		}
	}
	if diff := cmp.Diff(withProposed(after.Since(between)), result.observed); diff != "" && !countsDiffer {
		result.Unexplained = append(result.Unexplained, "metrics (-upstream +celador):\n"+diff)
	}
	return result
}

// withProposed adds the metric of KEP-3716 to the counts of Kubernetes' plugins.
func withProposed(observed harness.Counts) harness.Counts {
	result := harness.Counts{}
	for key, count := range observed {
		result[key] = count
		if labels, ok := strings.CutPrefix(key, exclusions); ok {
			result[proposed+strings.Replace(labels, " kind=webhook", "", 1)] = count
		}
	}
	return result
}

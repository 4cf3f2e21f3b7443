// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"k8s.io/component-base/metrics"

	"celador.io/admission/policy"

	"celador.io/apiserver/pkg/collector"
)

var evaluationsTotal = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "evaluations_total"),
	"Evaluations of policies, one for each request, binding and param, by kind, policy and outcome: admitted; denied, as a validation is not satisfied, whatever the validationActions are; failed, as a part of the policy could not be evaluated, whatever the failurePolicy is.",
	[]string{"kind", "policy", "outcome"}, nil, metrics.ALPHA, "")

// evaluations reads the counters of policies when metrics are gathered, with a reader for each kind
// of policy. So requests need not look up metrics by their labels.
var evaluations = collector.Counters(evaluationsTotal)

// An EvaluationCounter calls observe for each policy and outcome with the number of evaluations
// that had the outcome. It may report policies with the same name one by one, such as a policy of a
// file and one of the API. Implementations are safe for concurrent use.
type EvaluationCounter func(observe policy.EvaluationObserver)

// source returns a reader of the counters of one kind of policy.
func (count EvaluationCounter) source(kind string) collector.Reader {
	type labels struct {
		policy  string
		outcome policy.Outcome
	}
	return func(observe func(*metrics.Desc, int, ...string)) {
		// Two values with the same labels would make the request for metrics fail, so the values of
		// policies with the same name are added.
		counts := map[labels]uint64{}
		count(func(policy string, outcome policy.Outcome, n uint64) { counts[labels{policy, outcome}] += n })
		for l, n := range counts {
			observe(evaluationsTotal, int(n), kind, l.policy, l.outcome.String())
		}
	}
}

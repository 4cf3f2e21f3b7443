// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync"

	"k8s.io/apiserver/pkg/admission"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// exclusions is the metric of KEP-3716, "Monitoring Requirements".
var exclusions = metrics.NewCounterVec(&metrics.CounterOpts{
	Subsystem:      "webhook_admission",
	Name:           "match_condition_exclusions_total",
	Help:           "Requests that match conditions kept from a webhook, by webhook, type (validate or admit) and operation.",
	StabilityLevel: metrics.ALPHA,
}, []string{"name", "type", "operation"})

func init() { legacyregistry.MustRegister(exclusions) }

// exclusionCounters holds the counters of one webhook by operation, so that a request does not look
// them up by their labels. Safe for concurrent use.
type exclusionCounters map[admission.Operation]func() metrics.CounterMetric

// countersOf returns the counters of a webhook. A counter becomes part of the metric when it is first
// used.
func countersOf(w upstream.WebhookAccessor) exclusionCounters {
	counters := exclusionCounters{}
	for _, operation := range []admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect} {
		counters[operation] = sync.OnceValue(func() metrics.CounterMetric {
			return exclusions.WithLabelValues(w.GetName(), w.GetType(), string(operation))
		})
	}
	return counters
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// exclusions counts the requests that match conditions kept from a webhook, under the name in
// KEP-3716, "Monitoring Requirements". Kubernetes registers its metric under another name.
var exclusions = &resettable{CounterVec: metrics.NewCounterVec(&metrics.CounterOpts{
	Subsystem:      "webhook_admission",
	Name:           "match_condition_exclusions_total",
	Help:           "Requests that match conditions kept from a webhook, by webhook, type (validate or admit) and operation.",
	StabilityLevel: metrics.ALPHA,
}, []string{"name", "type", "operation"})}

func init() { legacyregistry.MustRegister(exclusions) }

// These are Kubernetes' metrics of exclusions and of the time that match conditions take, found by
// their names, because Kubernetes does not export them. countsExclusions and timesEvaluations are
// false if there is no such metric.
var (
	kubernetesExclusions, countsExclusions = registered[*metrics.CounterVec]("apiserver_admission_match_condition_exclusions_total")
	evaluationSeconds, timesEvaluations    = registered[*metrics.HistogramVec]("apiserver_admission_match_condition_evaluation_seconds")
)

// conditionsOf is the value of the label "kind" in upstream's metrics of match conditions.
const conditionsOf = "webhook"

// resettable is a metric that counts how often the server's metrics were reset (DELETE /metrics). A
// reset removes the series of all metrics, and removed series are not gathered any more, so they
// must be looked up again.
type resettable struct {
	*metrics.CounterVec
	resets atomic.Uint64
}

// Reset resets the metric and counts the reset, after which the series of Kubernetes' metrics are
// looked up again, too. These have been reset before, because they were registered first.
func (r *resettable) Reset() {
	r.CounterVec.Reset()
	r.resets.Add(1)
}

// operations are the operations of the requests that the plugins handle.
var operations = [...]admission.Operation{admission.Create, admission.Update, admission.Delete, admission.Connect}

// exclusionSeries holds the series of one webhook in the metrics of exclusions, by operation, so
// that requests need not look them up by their labels. Safe for concurrent use.
type exclusionSeries [len(operations)]atomic.Pointer[operationSeries]

// of returns the series of an operation. The first call adds them to the metrics. It returns nil if
// a metric of Kubernetes is not registered under its name.
func (s *exclusionSeries) of(w *Accessor, k *Descriptor, operation admission.Operation) *operationSeries {
	if !countsExclusions || !timesEvaluations {
		return nil
	}
	place := &s[slices.Index(operations[:], operation)]
	resets := exclusions.resets.Load()
	if series := place.Load(); series != nil && series.resets == resets {
		return series
	}
	name, stage := w.GetName(), w.GetType()
	series := &operationSeries{
		resets:   resets,
		counters: [...]metrics.CounterMetric{exclusions.WithLabelValues(name, stage, string(operation)), kubernetesExclusions.WithLabelValues(name, conditionsOf, stage, string(operation))},
		seconds:  evaluationSeconds.WithLabelValues(name, conditionsOf, k.metric, string(operation)),
	}
	place.Store(series)
	return series
}

// operationSeries holds the series of one webhook and operation.
type operationSeries struct {
	// resets is the number of resets of metrics before the series were created.
	resets   uint64
	counters [2]metrics.CounterMetric
	seconds  metrics.ObserverMetric
}

// observe counts an exclusion whose evaluation took the given time.
func (s *operationSeries) observe(elapsed time.Duration) {
	for _, counter := range s.counters {
		counter.Inc()
	}
	s.seconds.Observe(elapsed.Seconds())
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policymetrics registers the metrics of policies that Kubernetes' plugins do not have.
// Their names start with celador_admission_policy_.
package policymetrics

import (
	"context"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const (
	namespace = "celador"
	subsystem = "admission_policy"
)

var (
	ignoredFailures = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "ignored_failures_total",
		Help:           "Failures to evaluate a policy that its failurePolicy Ignore let pass, by kind of policy and policy.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"kind", "policy"})

	snapshotBuild = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "snapshot_build_duration_seconds",
		Help:           "Time from a seen change of a policy or binding until requests are subject to it, compilation included, by kind of policy.",
		Buckets:        metrics.ExponentialBuckets(1e-5, 4, 10),
		StabilityLevel: metrics.ALPHA,
	}, []string{"kind"})
)

func init() {
	legacyregistry.MustRegister(ignoredFailures, snapshotBuild, lookupChanges)
	legacyregistry.CustomMustRegister(inventory, evaluations, ages, lookedUp, recoveredPanics)
}

// For returns the metrics of one kind of policy. The methods of Metrics are safe for concurrent
// use.
func For(kind string) Metrics { return Metrics{kind} }

// Metrics records the metrics of one kind of policy.
type Metrics struct{ kind string }

// Kind returns the kind, which is the value of the label "kind".
func (m Metrics) Kind() string { return m.kind }

// ObserveIgnored counts an ignored failure: a policy could not be evaluated, and its failurePolicy
// is Ignore.
func (m Metrics) ObserveIgnored(ctx context.Context, policy string) {
	ignoredFailures.WithContext(ctx).WithLabelValues(m.kind, policy).Inc()
}

// Forget deletes the metrics of a deleted policy.
func (m Metrics) Forget(policy string) { ignoredFailures.DeleteLabelValues(m.kind, policy) }

// ObserveBuild records the time from the event of a change until the change applied to requests.
func (m Metrics) ObserveBuild(elapsed time.Duration) {
	snapshotBuild.WithLabelValues(m.kind).Observe(elapsed.Seconds())
}

// Count sets the function that returns the numbers of policies and bindings when metrics are
// gathered. It replaces the function of an earlier call for the same kind.
func (m Metrics) Count(count Counter) { inventory.SetReader(m.kind, count.source(m.kind)) }

// CountEvaluations sets the function that returns the evaluations when metrics are gathered. It
// replaces the function of an earlier call for the same kind.
func (m Metrics) CountEvaluations(count EvaluationCounter) {
	evaluations.SetReader(m.kind, count.source(m.kind))
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policymetrics has the metrics that tell an operator how policies are doing,
// beyond those that upstream's plugins have: celador_admission_policy_*.
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
	legacyregistry.MustRegister(ignoredFailures, snapshotBuild)
	legacyregistry.CustomMustRegister(&inventory)
}

// For returns the metrics of one kind of policy. Its methods are safe for concurrent use.
func For(kind string) Metrics { return Metrics{kind} }

// Metrics are the metrics of one kind of policy.
type Metrics struct{ kind string }

// Kind returns the value of the label 'kind'.
func (m Metrics) Kind() string { return m.kind }

// ObserveIgnored counts a failure that failurePolicy Ignore let pass.
func (m Metrics) ObserveIgnored(ctx context.Context, policy string) {
	ignoredFailures.WithContext(ctx).WithLabelValues(m.kind, policy).Inc()
}

// Forget drops what was counted for a policy that is deleted.
func (m Metrics) Forget(policy string) { ignoredFailures.DeleteLabelValues(m.kind, policy) }

// ObserveBuild records how long it took to bring a change into effect.
func (m Metrics) ObserveBuild(elapsed time.Duration) {
	snapshotBuild.WithLabelValues(m.kind).Observe(elapsed.Seconds())
}

// Count has the numbers of policies and bindings by state taken from count, whenever
// metrics are read, instead of from where they came before.
func (m Metrics) Count(count Counter) { inventory.set(m.kind, count) }

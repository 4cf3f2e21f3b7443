// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var duration = metrics.NewHistogramVec(&metrics.HistogramOpts{
	Namespace:      "celador",
	Subsystem:      "webhook",
	Name:           "review_duration_seconds",
	Help:           "Time to answer an admission review, by webhook (validate, mutate or policies) and outcome (allowed, denied, rejected or failed).",
	Buckets:        []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 10},
	StabilityLevel: metrics.ALPHA,
}, []string{"webhook", "outcome"})

var rejected = metrics.NewCounterVec(&metrics.CounterOpts{
	Namespace:      "celador",
	Subsystem:      "webhook",
	Name:           "rejected_requests_total",
	Help:           "Requests for reviews that were answered before the review was read, by reason (too_many_in_flight, too_many_bytes_in_flight, no_length or unauthenticated).",
	StabilityLevel: metrics.ALPHA,
}, []string{"reason"})

func init() { legacyregistry.MustRegister(duration, rejected) }

func observe(ctx context.Context, webhook, outcome string, took time.Duration) {
	duration.WithContext(ctx).WithLabelValues(webhook, outcome).Observe(took.Seconds())
}

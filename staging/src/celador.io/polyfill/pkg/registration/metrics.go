// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const (
	namespace = "celador"
	subsystem = "webhook"
)

var (
	configurationWrites = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "configuration_writes_total",
		Help:           "Webhook configurations that the polyfill created or updated, by kind of configuration.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"kind"})

	configurationSyncErrors = metrics.NewCounter(&metrics.CounterOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "configuration_sync_errors_total",
		Help:           "Failures to bring the webhook configurations up to date with the policies, each of which is tried again.",
		StabilityLevel: metrics.ALPHA,
	})
)

func init() {
	legacyregistry.MustRegister(configurationWrites, configurationSyncErrors)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
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

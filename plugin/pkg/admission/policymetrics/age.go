// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"time"

	"k8s.io/component-base/metrics"

	"celador.io/celador/pkg/collector"
)

var age = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "snapshot_age_seconds"),
	"Time since the policies and bindings that requests are subject to were known to be those in etcd, by kind of policy, if --max-policy-staleness is set.",
	[]string{"kind"}, nil, metrics.ALPHA, "")

// ages holds the age of the policies and bindings of each kind of policy.
var ages = collector.Gauges(age)

// MeasureAge sets the function that returns the age of policies and bindings when metrics are gathered. It replaces the function of an
// earlier call for the same kind. current is safe for concurrent use.
func (m Metrics) MeasureAge(current func() time.Duration) {
	ages.SetSource(m.kind, func(observe func(*metrics.Desc, int, ...string)) {
		observe(age, int(current().Seconds()), m.kind)
	})
}

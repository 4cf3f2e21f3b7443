// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"

	"celador.io/apiserver/pkg/collector"
)

var age = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "snapshot_age_seconds"),
	"Time since the policies and bindings that requests are subject to were known to be those in etcd, by kind of policy, if --max-policy-staleness is set.",
	[]string{"kind"}, nil, metrics.ALPHA, "")

var paramAge = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "param_age_seconds"),
	"Time since the params of a kind were known to be those that are stored, by kind of policy, and by group, version and kind of the params, if --max-policy-staleness is set.",
	[]string{"kind", "param_group", "param_version", "param_kind"}, nil, metrics.ALPHA, "")

// ages holds the age of the policies and bindings of each kind of policy, and of their params.
var ages = collector.Gauges(age, paramAge)

// MeasureAges sets functions that are called when metrics are gathered. policies returns the age of
// policies and bindings, and params calls its argument with the age of each kind of params. They
// replace the functions of an earlier call for the same kind of policies, and must be safe for
// concurrent use.
func (m Metrics) MeasureAges(policies func() time.Duration, params func(observe func(schema.GroupVersionKind, time.Duration))) {
	ages.SetReader(m.kind, func(observe func(*metrics.Desc, int, ...string)) {
		observe(age, int(policies().Seconds()), m.kind)
		params(func(kind schema.GroupVersionKind, current time.Duration) {
			observe(paramAge, int(current.Seconds()), m.kind, kind.Group, kind.Version, kind.Kind)
		})
	})
}

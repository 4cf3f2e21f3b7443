// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"k8s.io/component-base/metrics"

	"celador.io/apiserver/pkg/collector"
)

// A Counter returns the current numbers of policies and of bindings, by the states that the method
// Counts of policy.Store describes, such as "active". Implementations are safe for concurrent use.
type Counter func() (policies, bindings map[string]int)

var (
	policies = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "policies"),
		"Policies by kind and state: active; unbound, as nothing puts it into effect; invalid, as it is in effect but not all of it can be evaluated.",
		[]string{"kind", "state"}, nil, metrics.ALPHA, "")
	bindings = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "bindings"),
		"Bindings by kind of policy and state: active; orphaned, as their policy does not exist; idle, as their policy takes effect without them.",
		[]string{"kind", "state"}, nil, metrics.ALPHA, "")
)

// inventory reads the numbers of policies and bindings, with a reader for each kind of policy.
var inventory = collector.Gauges(policies, bindings)

// source returns a reader of the numbers of one kind of policy.
func (count Counter) source(kind string) collector.Reader {
	return func(observe func(*metrics.Desc, int, ...string)) {
		ofPolicies, ofBindings := count()
		for state, n := range ofPolicies {
			observe(policies, n, kind, state)
		}
		for state, n := range ofBindings {
			observe(bindings, n, kind, state)
		}
	}
}

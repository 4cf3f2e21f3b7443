// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"sync"

	"k8s.io/component-base/metrics"
)

// A Counter returns the current numbers of policies and bindings by state. Implementations are safe
// for concurrent use.
type Counter func() (policies, bindings map[string]int)

var (
	policies = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "policies"),
		"Policies by kind and state: active; unbound, as nothing puts it into effect; invalid, as it is in effect but not all of it can be evaluated.",
		[]string{"kind", "state"}, nil, metrics.ALPHA, "")
	bindings = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "bindings"),
		"Bindings by kind of policy and state: active; orphaned, as their policy does not exist; idle, as their policy takes effect without them.",
		[]string{"kind", "state"}, nil, metrics.ALPHA, "")
)

// inventory counts policies and bindings when metrics are gathered, so changes of policies do not
// need to update metrics.
var inventory = collector{counters: map[string]Counter{}}

type collector struct {
	metrics.BaseStableCollector

	lock     sync.Mutex
	counters map[string]Counter
}

func (c *collector) set(kind string, count Counter) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.counters[kind] = count
}

// DescribeWithStability implements metrics.StableCollector.
func (c *collector) DescribeWithStability(ch chan<- *metrics.Desc) {
	ch <- policies
	ch <- bindings
}

// CollectWithStability implements metrics.StableCollector.
func (c *collector) CollectWithStability(ch chan<- metrics.Metric) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for kind, count := range c.counters {
		ofPolicies, ofBindings := count()
		for state, n := range ofPolicies {
			ch <- metrics.NewLazyConstMetric(policies, metrics.GaugeValue, float64(n), kind, state)
		}
		for state, n := range ofBindings {
			ch <- metrics.NewLazyConstMetric(bindings, metrics.GaugeValue, float64(n), kind, state)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"sync/atomic"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "celador.io/api/admissionregistration/v1"
)

const (
	namespace = "celador"
	subsystem = "admission_policy"
)

var (
	syncErrors = metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace:      namespace,
		Subsystem:      subsystem,
		Name:           "status_sync_errors_total",
		Help:           "Failures to bring the status of a policy up to date, each of which is tried again, by kind of policy.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"kind"})

	conditionsDesc = metrics.NewDesc(metrics.BuildFQName(namespace, subsystem, "conditions"),
		"Policies by kind, condition in their status and status of the condition.",
		[]string{"kind", "condition", "status"}, nil, metrics.ALPHA, "")

	conditionCollector collector
)

func init() {
	legacyregistry.MustRegister(syncErrors)
	legacyregistry.CustomMustRegister(&conditionCollector)
}

// collector counts the conditions of cached policies whenever metrics are read.
type collector struct {
	metrics.BaseStableCollector
	kinds atomic.Pointer[[]*Kind]
}

// countConditions makes the collector count policies of the kinds, instead of those before.
func countConditions(kinds []*Kind) { conditionCollector.kinds.Store(&kinds) }

// DescribeWithStability implements metrics.StableCollector.
func (c *collector) DescribeWithStability(ch chan<- *metrics.Desc) { ch <- conditionsDesc }

// CollectWithStability implements metrics.StableCollector.
func (c *collector) CollectWithStability(ch chan<- metrics.Metric) {
	kinds := c.kinds.Load()
	if kinds == nil {
		return
	}
	type labels struct{ kind, condition, status string }
	counts := map[labels]int{}
	for _, k := range *kinds {
		for _, object := range k.informer.GetIndexer().List() {
			for _, condition := range k.view(object).status.Conditions {
				if condition.Type == v1.PolicyConditionAvailable || condition.Type == v1.PolicyConditionTypeChecked {
					counts[labels{k.name, condition.Type, string(condition.Status)}]++
				}
			}
		}
	}
	for l, n := range counts {
		ch <- metrics.NewLazyConstMetric(conditionsDesc, metrics.GaugeValue, float64(n), l.kind, l.condition, l.status)
	}
}

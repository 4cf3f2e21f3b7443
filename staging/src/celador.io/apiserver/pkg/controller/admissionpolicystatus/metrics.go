// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/collector"
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

	conditions = collector.Gauges(conditionsDesc)
)

func init() {
	legacyregistry.MustRegister(syncErrors)
	legacyregistry.CustomMustRegister(conditions)
}

// countConditions counts the conditions of policies of the kinds whenever metrics are gathered. The
// policies of an earlier call no longer count.
func countConditions(kinds []*Descriptor) {
	conditions.SetReader("", func(observe func(*metrics.Desc, int, ...string)) { observeConditions(kinds, observe) })
}

func observeConditions(kinds []*Descriptor, observe func(*metrics.Desc, int, ...string)) {
	type labels struct{ kind, condition, status string }
	counts := map[labels]int{}
	for _, k := range kinds {
		for _, object := range k.informer.GetIndexer().List() {
			for _, condition := range k.view(object).status.Conditions {
				if condition.Type == v1.PolicyConditionAvailable || condition.Type == v1.PolicyConditionTypeChecked {
					counts[labels{k.name, condition.Type, string(condition.Status)}]++
				}
			}
		}
	}
	for l, n := range counts {
		observe(conditionsDesc, n, l.kind, l.condition, l.status)
	}
}

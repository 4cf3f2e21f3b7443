// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policymetrics

import (
	"k8s.io/component-base/metrics"

	"celador.io/admission/panics"

	"celador.io/apiserver/pkg/collector"
)

var recoveredPanicsTotal = metrics.NewDesc(metrics.BuildFQName(namespace, "recovered", "panics_total"),
	"Panics that the server recovered, by component: evaluator, interpreter, compiler, patch, conversion, schema, status, webhook. Each is a defect. The log has the stacks.",
	[]string{"component"}, nil, metrics.ALPHA, "")

var recoveredPanics = collector.Counters(recoveredPanicsTotal)

func init() {
	recoveredPanics.SetReader("", func(observe func(*metrics.Desc, int, ...string)) {
		panics.Counts(func(component panics.Component, recovered uint64) {
			observe(recoveredPanicsTotal, int(recovered), component.String())
		})
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// A reason says why a rule returns an error.
type reason string

const (
	// reasonInvalid is for a stored rule that does not compile.
	reasonInvalid reason = "invalid"
	// reasonEvaluation is for an error of CEL.
	reasonEvaluation reason = "evaluation"
	// reasonResult is for a result that does not fit the schema of the field.
	reasonResult reason = "result"
	// reasonCost is for an evaluation that exceeds a cost limit.
	reasonCost reason = "cost"
)

var errorsTotal = metrics.NewCounterVec(&metrics.CounterOpts{
	Name:           "celador_crd_default_errors_total",
	Help:           "Number of evaluations of x-kubernetes-default that left their field unset because of an error, in requests and reads, by CustomResourceDefinition and reason (invalid, evaluation, result, cost).",
	StabilityLevel: metrics.ALPHA,
}, []string{"crd", "reason"})

func init() {
	legacyregistry.MustRegister(errorsTotal)
}

// DeleteMetrics deletes the series of a CustomResourceDefinition that does not exist any more.
func DeleteMetrics(crd string) {
	errorsTotal.DeletePartialMatch(map[string]string{"crd": crd})
}

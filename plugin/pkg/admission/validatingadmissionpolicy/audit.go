// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"context"
	"encoding/json"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"celador.io/admission/validating"
)

const (
	failuresAnnotation = "validation.policy.admission.k8s.io/validation_failure"
	// maxFailures bounds the annotation to about 10 kB.
	maxFailures = 50
)

// failure is an element of the failures annotation.
type failure struct {
	Message           string                `json:"message"`
	Policy            string                `json:"policy"`
	Binding           string                `json:"binding"`
	ExpressionIndex   int                   `json:"expressionIndex"`
	ValidationActions []v1.ValidationAction `json:"validationActions"`
}

func failureOf(d *validating.Decision) failure {
	return failure{d.Message, d.Policy, d.Binding, d.Index, d.Actions}
}

// annotate adds the policies' own annotations and the list of failures to the audit
// event. What cannot be added is logged; it never decides over the request.
func annotate(ctx context.Context, a admission.Attributes, annotations []validating.Annotation, failures []failure) {
	logger := klog.FromContext(ctx)
	for _, annotation := range annotations {
		if err := a.AddAnnotation(annotation.Key, annotation.Value); err != nil {
			logger.Error(err, "Failed to set an audit annotation", "key", annotation.Key, "value", annotation.Value)
		}
	}
	if len(failures) == 0 {
		return
	}
	if len(failures) > maxFailures {
		logger.Info("Audit annotation leaves failures out", "key", failuresAnnotation, "resource", a.GetResource(), "failures", len(failures), "limit", maxFailures)
		failures = failures[:maxFailures]
	}
	value, err := json.Marshal(failures)
	if err == nil {
		err = a.AddAnnotation(failuresAnnotation, string(value))
	}
	if err != nil {
		logger.Error(err, "Failed to set an audit annotation", "key", failuresAnnotation, "failures", failures)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/policy"
)

// Outcome is what became of one validation.
type Outcome string

const (
	// Admitted means that the validation is satisfied.
	Admitted Outcome = "Admitted"
	// Denied means that the validation is not satisfied.
	Denied Outcome = "Denied"
	// Failed means that the validation could not be evaluated.
	Failed Outcome = "Failed"
	// Misconfigured means that the policy or the binding could not be applied at all.
	Misconfigured Outcome = "Misconfigured"
)

// Decision is what a policy, through one of its bindings, has to say about a request.
type Decision struct {
	// Policy and Binding are names. Binding is empty when the policy could not be
	// applied through any.
	Policy, Binding string
	// Actions are the binding's validationActions.
	Actions []v1.ValidationAction
	// Index is the position of the validation in spec.validations.
	Index   int
	Outcome Outcome
	// Ignored is set on outcomes that the policy's failurePolicy lets pass.
	Ignored bool
	// Message is for the client. Empty when admitted.
	Message string
	// Reason is the validation's reason, for outcome Denied.
	Reason metav1.StatusReason
	// Elapsed is the time that the validation's expression took.
	Elapsed time.Duration
}

// Annotation is a value for the audit event of a request.
type Annotation struct {
	// Key is the full name: policy name, slash, the annotation's own key.
	Key   string
	Value string
}

// ConditionReport says that match conditions ended the evaluation of a policy.
type ConditionReport = policy.ConditionReport

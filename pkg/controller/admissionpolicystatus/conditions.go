// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// available returns the condition of that name. Where types are enforced, the policy cannot
// decide when expressions do not fit them.
func (o *outcome) available(p *policy) metav1.Condition {
	problems := append([]error{o.broken}, o.missing(p)...)
	if p.enforced() {
		problems = append(problems, o.misfits)
	}
	problem := errors.Join(problems...)
	condition := metav1.Condition{Type: v1.PolicyConditionAvailable, ObservedGeneration: p.Generation}
	switch {
	case problem != nil:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, v1.PolicyReasonMisconfigured, cut(problem.Error(), maxMessage)
	case o.unavailable():
		condition.Status, condition.Reason, condition.Message = metav1.ConditionUnknown, v1.PolicyReasonTypesUnavailable, o.unchecked(typecheck.Unavailable)
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.PolicyReasonConfigured
	}
	return condition
}

// typeChecked returns the condition of that name.
func (o *outcome) typeChecked(p *policy) metav1.Condition {
	condition := metav1.Condition{Type: v1.PolicyConditionTypeChecked, ObservedGeneration: p.Generation, Status: metav1.ConditionUnknown}
	missing := errors.Join(o.missing(p)...)
	undescribed := o.unchecked(typecheck.NoSchema)
	omitted := o.unchecked(typecheck.Wildcard, typecheck.Subresource, typecheck.TooManyTypes)
	switch {
	case len(o.warnings) > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1.PolicyReasonTypeErrors
		condition.Message = "Expressions do not fit types: " + o.fields + ". See status.typeChecking."
	case o.unavailable():
		condition.Reason, condition.Message = v1.PolicyReasonTypesUnavailable, o.unchecked(typecheck.Unavailable)
	case missing != nil:
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotFound, missing.Error()
	case undescribed != "":
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotFound, undescribed
	case omitted != "":
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotChecked, omitted
	default:
		condition.Status, condition.Reason = metav1.ConditionTrue, v1.PolicyReasonNoTypeErrors
	}
	condition.Message = cut(condition.Message, maxMessage)
	return condition
}

// unchecked says what was not checked for one of the reasons, and why. It is empty if
// there is nothing.
func (o *outcome) unchecked(reasons ...typecheck.Reason) string {
	var lines []string
	for _, u := range o.omitted {
		if slices.Contains(reasons, u.Reason) {
			lines = append(lines, fmt.Sprintf("%s: %v", u.Field, u.Err))
		}
	}
	return cut(strings.Join(slices.Compact(lines), "\n"), maxMessage)
}

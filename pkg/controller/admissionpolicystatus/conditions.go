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
	problems := slices.Concat(o.broken, o.missing(p))
	if p.enforced() {
		problems = append(problems, o.typeErrors()...)
	}
	condition := metav1.Condition{Type: v1.PolicyConditionAvailable, ObservedGeneration: p.Generation}
	switch {
	case len(problems) > 0:
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, v1.PolicyReasonMisconfigured, messageOf(problems)
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
	missing := o.missing(p)
	undescribed := o.unchecked(typecheck.NoSchema)
	omitted := o.unchecked(typecheck.Wildcard, typecheck.Subresource, typecheck.TooManyTypes)
	switch {
	case len(o.Findings) > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, v1.PolicyReasonTypeErrors
		condition.Message = "Expressions do not fit types: " + strings.Join(o.fields(), ", ") + ". See status.typeChecking."
	case o.unavailable():
		condition.Reason, condition.Message = v1.PolicyReasonTypesUnavailable, o.unchecked(typecheck.Unavailable)
	case len(missing) > 0:
		condition.Reason, condition.Message = v1.PolicyReasonTypesNotFound, messageOf(missing)
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

// fields returns the fields with expressions that do not fit.
func (o *outcome) fields() []string {
	var fields []string
	for _, f := range o.Findings {
		fields = append(fields, f.Field)
	}
	return slices.Compact(fields)
}

// unchecked says what was not checked for one of the reasons, and why. It is empty if
// there is nothing.
func (o *outcome) unchecked(reasons ...typecheck.Reason) string {
	var lines []string
	for _, u := range o.Unchecked {
		if slices.Contains(reasons, u.Reason) {
			lines = append(lines, fmt.Sprintf("%s: %v", u.Field, u.Err))
		}
	}
	return cut(strings.Join(slices.Compact(lines), "\n"), maxMessage)
}

func messageOf(problems []error) string { return cut(errors.Join(problems...).Error(), maxMessage) }

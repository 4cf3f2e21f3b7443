// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

func checkValidations(path *field.Path, validations, stored []v1.Validation, expressions expressionErrors) field.ErrorList {
	var failurePolicies []*v1.FailurePolicyType
	for _, validation := range stored {
		failurePolicies = append(failurePolicies, validation.FailurePolicy)
	}
	return each(path, validations, func(path *field.Path, validation *v1.Validation) field.ErrorList {
		return slices.Concat(
			expressions.take(path.Child("expression")),
			expressions.take(path.Child("messageExpression")),
			checkMessage(path.Child("message"), validation.Message),
			optional(path.Child("reason"), validation.Reason, knownReason.check),
			optional(path.Child("failurePolicy"), validation.FailurePolicy, unlessStored(knownFailurePolicy.check, failurePolicies...)),
		)
	})
}

var knownReason = oneOf(
	metav1.StatusReasonForbidden,
	metav1.StatusReasonInvalid,
	metav1.StatusReasonRequestEntityTooLarge,
)

func checkMessage(path *field.Path, message string) field.ErrorList {
	trimmed := strings.TrimSpace(message)
	switch {
	case message != "" && trimmed == "":
		return invalid(path, message, blank)
	case strings.ContainsAny(trimmed, "\r\n"):
		return invalid(path, message, "must not contain line breaks")
	}
	return nil
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/cel/rulepath"
	v1 "celador.io/api/admissionregistration/v1"
)

func checkValidations(path *field.Path, validations, stored []v1.Validation, expressions expressionErrors) field.ErrorList {
	var failurePolicies []*v1.FailurePolicyType
	var fieldPaths []*string
	for _, validation := range stored {
		failurePolicies = append(failurePolicies, validation.FailurePolicy)
		fieldPaths = append(fieldPaths, validation.FieldPath)
	}
	return each(path, validations, func(path *field.Path, validation *v1.Validation) field.ErrorList {
		return slices.Concat(
			expressions.take(path.Child("expression")),
			expressions.take(path.Child("messageExpression")),
			checkMessage(path.Child("message"), validation.Message),
			optional(path.Child("reason"), validation.Reason, knownReason.check),
			optional(path.Child("failurePolicy"), validation.FailurePolicy, unlessStored(knownFailurePolicy.check, failurePolicies...)),
			optional(path.Child("fieldPath"), validation.FieldPath, unlessStored(checkFieldPath, fieldPaths...)),
		)
	})
}

var knownReason = oneOf(
	metav1.StatusReasonForbidden,
	metav1.StatusReasonInvalid,
	metav1.StatusReasonRequestEntityTooLarge,
)

// maxFieldPath bounds what a fieldPath adds to responses.
const maxFieldPath = 1024 // bytes

func checkFieldPath(path *field.Path, text *string) field.ErrorList {
	switch {
	case strings.TrimSpace(*text) == "":
		return invalid(path, *text, blank)
	case len(*text) > maxFieldPath:
		return field.ErrorList{field.TooLong(path, *text, maxFieldPath)}
	}
	if _, err := rulepath.ParseFieldPath(*text); err != nil {
		return invalid(path, *text, err.Error())
	}
	return nil
}

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

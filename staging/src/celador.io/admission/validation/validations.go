// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"regexp"
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
	var scopes []*v1.ScopedValues
	for _, validation := range stored {
		failurePolicies = append(failurePolicies, validation.FailurePolicy)
		fieldPaths = append(fieldPaths, validation.FieldPath)
		scopes = append(scopes, validation.Scope)
	}
	return each(path, validations, func(path *field.Path, validation *v1.Validation) field.ErrorList {
		return slices.Concat(
			expressions.take(path.Child("expression")),
			expressions.take(path.Child("messageExpression")),
			checkMessage(path.Child("message"), validation.Message),
			optional(path.Child("reason"), validation.Reason, knownReason.check),
			optional(path.Child("failurePolicy"), validation.FailurePolicy, unlessStored(knownFailurePolicy.check, failurePolicies...)),
			optional(path.Child("fieldPath"), validation.FieldPath, unlessStored(checkFieldPath, fieldPaths...)),
			optional(path.Child("scope"), validation.Scope, unlessStored(checkScope, scopes...)),
			checkField(path.Child("fieldPath"), validation, stored),
		)
	})
}

var knownReason = oneOf(
	metav1.StatusReasonForbidden,
	metav1.StatusReasonInvalid,
	metav1.StatusReasonRequestEntityTooLarge,
)

// maxFieldPath bounds what a fieldPath adds to responses.
const maxFieldPath = rulepath.MaxFieldPath // bytes

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

// modelName matches the names of OpenAPI models.
var modelName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// checkScope checks the scope of a validation. Whether a kind has the type or the path depends on
// schemas, so type checks find that out.
func checkScope(path *field.Path, scope *v1.ScopedValues) field.ErrorList {
	switch {
	case scope.Type == "" && scope.Path == "":
		return missing(path, "must have a type, such as io.k8s.api.core.v1.Container, or a path, such as spec.rules[*].host")
	case scope.Type != "" && scope.Path != "":
		return field.ErrorList{field.Forbidden(path.Child("path"), "must not be set together with type: write two validations")}
	case scope.Type != "" && !modelName.MatchString(scope.Type):
		return invalid(path.Child("type"), scope.Type, "must be the name of an OpenAPI model, such as io.k8s.api.core.v1.Container")
	case scope.Path != "":
		if _, err := rulepath.ParseScope(scope.Path); err != nil {
			return invalid(path.Child("path"), scope.Path, err.Error())
		}
	}
	return nil
}

// checkField checks that a validation has no fieldPath beside a scope, which determines the field,
// unless a stored validation has both.
func checkField(path *field.Path, validation *v1.Validation, stored []v1.Validation) field.ErrorList {
	both := func(v v1.Validation) bool { return v.FieldPath != nil && v.Scope != nil }
	if both(*validation) && !slices.ContainsFunc(stored, both) {
		return field.ErrorList{field.Forbidden(path, "must not be set together with scope: a cause names the path of the value for which the expression is false")}
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

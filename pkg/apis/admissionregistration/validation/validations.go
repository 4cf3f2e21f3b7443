// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/expression"
	v1 "celador.io/api/admissionregistration/v1"
)

const blank = "must be non-empty if specified"

// checkValidation checks one of spec.validations.
func (s *scope) checkValidation(path *field.Path, validation *v1.Validation) field.ErrorList {
	return slices.Concat(
		s.checkAssertion(path.Child("expression"), validation.Expression),
		s.checkMessageExpression(path.Child("messageExpression"), validation.MessageExpression),
		checkMessage(path.Child("message"), validation.Message),
		optional(path.Child("reason"), validation.Reason, knownReason),
	)
}

var knownReason = oneOf(
	metav1.StatusReasonForbidden,
	metav1.StatusReasonInvalid,
	metav1.StatusReasonRequestEntityTooLarge,
)

// checkFailurePolicies checks the failure policies that validations have of their own.
func checkFailurePolicies(path *field.Path, spec, stored *v1.ValidatingAdmissionPolicySpec) field.ErrorList {
	var known []*v1.FailurePolicyType
	for _, validation := range stored.Validations {
		known = append(known, validation.FailurePolicy)
	}
	supported := newly(oneOf(v1.Fail, v1.Ignore), known...)
	return each(path, spec.Validations, func(path *field.Path, validation *v1.Validation) field.ErrorList {
		return optional(path.Child("failurePolicy"), validation.FailurePolicy, supported)
	})
}

func (s *scope) checkAssertion(path *field.Path, source string) field.ErrorList {
	if strings.TrimSpace(source) == "" {
		return missing(path, "expression is not specified")
	}
	_, err := s.composed.Compile(source, s.declarations(), s.origin(source), cel.BoolType)
	return compileError(path, source, err)
}

// checkMessageExpression compiles with what messages can refer to: all that
// assertions can, but for the authorizer.
func (s *scope) checkMessageExpression(path *field.Path, source string) field.ErrorList {
	switch {
	case source == "":
		return nil
	case strings.TrimSpace(source) == "":
		return invalid(path, source, blank)
	}
	in := expression.Declarations{Params: s.params}
	_, err := s.composed.Compile(source, in, s.origin(source), cel.StringType)
	return compileError(path, source, err)
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

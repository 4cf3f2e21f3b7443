// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validating(policy *v1.ValidatingAdmissionPolicy) subject {
	spec, path := &policy.Spec, field.NewPath("spec")
	s := subject{constraints: spec.MatchConstraints, paramKind: spec.ParamKind}
	s.addConditions(path.Child("matchConditions"), spec.MatchConditions)
	s.addVariables(path.Child("variables"), spec.Variables)
	for i, validation := range spec.Validations {
		at := path.Child("validations").Index(i)
		s.add(at.Child("expression"), fieldExpression{source: validation.Expression, declarations: withAuthorizer})
		if validation.MessageExpression != "" {
			s.add(at.Child("messageExpression"), fieldExpression{source: validation.MessageExpression})
		}
	}
	for i, annotation := range spec.AuditAnnotations {
		s.add(path.Child("auditAnnotations").Index(i).Child("valueExpression"),
			fieldExpression{source: annotation.ValueExpression, declarations: withAuthorizer})
	}
	return s
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// subject is what is checked of a policy, whatever its kind.
type subject struct {
	constraints *v1.MatchResources
	paramKind   *v1.ParamKind
	// expressions are in the order in which a request has them evaluated.
	expressions []fieldExpression
}

// fieldExpression is an expression and the field that holds it.
type fieldExpression struct {
	field, source string
	// parse parses the source when first called.
	parse func() (syntax, error)
	// variable is the name by which the expressions after this one read its value.
	variable string
	// authorizer puts 'authorizer' in scope.
	authorizer bool
}

func validating(policy *v1.ValidatingAdmissionPolicy) subject {
	spec, path := &policy.Spec, field.NewPath("spec")
	s := subject{constraints: spec.MatchConstraints, paramKind: spec.ParamKind}
	add := func(path *field.Path, e fieldExpression) {
		e.field = path.String()
		s.expressions = append(s.expressions, e)
	}
	for i, condition := range spec.MatchConditions {
		add(path.Child("matchConditions").Index(i).Child("expression"),
			fieldExpression{source: condition.Expression, authorizer: true})
	}
	for i, variable := range spec.Variables {
		add(path.Child("variables").Index(i).Child("expression"),
			fieldExpression{source: variable.Expression, variable: variable.Name, authorizer: true})
	}
	for i, validation := range spec.Validations {
		at := path.Child("validations").Index(i)
		add(at.Child("expression"), fieldExpression{source: validation.Expression, authorizer: true})
		if validation.MessageExpression != "" {
			add(at.Child("messageExpression"), fieldExpression{source: validation.MessageExpression})
		}
	}
	for i, annotation := range spec.AuditAnnotations {
		add(path.Child("auditAnnotations").Index(i).Child("valueExpression"),
			fieldExpression{source: annotation.ValueExpression, authorizer: true})
	}
	return s
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/defaults"
)

// Validating returns the anatomy of a validating policy.
func Validating(spec *v1.ValidatingAdmissionPolicySpec) *Anatomy {
	defaulted := *spec
	defaults.SetDefaults_ValidatingAdmissionPolicySpec(&defaulted)
	p := &Anatomy{
		FailurePolicy:    *defaulted.FailurePolicy,
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		TypeChecking:     spec.TypeChecking,
		Lookups:          spec.Lookups,
		Singleton:        IsSingleton(spec.PolicyType),
	}
	p.addConditions(spec.MatchConditions)
	p.addVariables(spec.Variables)
	for i := range spec.Validations {
		v, path := &spec.Validations[i], specPath.Child("validations").Index(i)
		p.Expressions = append(p.Expressions, Expression{Role: Validation, Path: path.Child("expression"), Source: v.Expression, Index: i, Scope: v.Scope})
		if v.MessageExpression != "" {
			p.Expressions = append(p.Expressions, Expression{Role: Message, Path: path.Child("messageExpression"), Source: v.MessageExpression, Index: i, Scope: v.Scope})
		}
		if v.FieldPath != nil {
			p.FieldPaths = append(p.FieldPaths, FieldPath{Path: path.Child("fieldPath"), Source: *v.FieldPath})
		}
	}
	for i, a := range spec.AuditAnnotations {
		p.Expressions = append(p.Expressions, Expression{
			Role: AuditAnnotation, Path: specPath.Child("auditAnnotations").Index(i).Child("valueExpression"), Source: a.ValueExpression, Index: i,
		})
	}
	p.addIndexes()
	return p
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/typeerrors"
)

// checkTypes returns the type errors of a policy, unless the stored spec is the same in all
// that they depend on. On create that is empty.
func (s Strategy) checkTypes(policy *admissionregistration.ValidatingAdmissionPolicy, stored *v1.ValidatingAdmissionPolicySpec) field.ErrorList {
	sent := &v1.ValidatingAdmissionPolicy{ObjectMeta: policy.ObjectMeta, Spec: policy.Spec}
	return typeerrors.Find(s.types, sent, checked(&policy.Spec), checked(stored))
}

// checked returns the part of a spec that decides whether it has type errors and whether
// they count.
func checked(spec *v1.ValidatingAdmissionPolicySpec) v1.ValidatingAdmissionPolicySpec {
	part := v1.ValidatingAdmissionPolicySpec{
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		Variables:        spec.Variables,
		TypeChecking:     spec.TypeChecking,
	}
	for _, v := range spec.Validations {
		part.Validations = append(part.Validations, v1.Validation{Expression: v.Expression, MessageExpression: v.MessageExpression})
	}
	for _, a := range spec.AuditAnnotations {
		part.AuditAnnotations = append(part.AuditAnnotations, v1.AuditAnnotation{ValueExpression: a.ValueExpression})
	}
	for _, c := range spec.MatchConditions {
		part.MatchConditions = append(part.MatchConditions, v1.MatchCondition{Expression: c.Expression})
	}
	return part
}

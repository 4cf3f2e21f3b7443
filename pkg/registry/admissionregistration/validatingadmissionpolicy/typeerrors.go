// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
)

// TypeCheck returns the type errors for which an otherwise valid policy is refused. It does
// not change the policy and is safe for concurrent use.
type TypeCheck func(*v1.ValidatingAdmissionPolicy) field.ErrorList

// checkTypes returns the type errors of a policy, unless the stored one would have the
// same: those may have come with another version of the server. On create there is none.
func (s Strategy) checkTypes(policy, stored *admissionregistration.ValidatingAdmissionPolicy) field.ErrorList {
	if s.types == nil || !utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) {
		return nil
	}
	if stored != nil && equality.Semantic.DeepEqual(checked(&policy.Spec), checked(&stored.Spec)) {
		return nil
	}
	return s.types(&v1.ValidatingAdmissionPolicy{ObjectMeta: policy.ObjectMeta, Spec: policy.Spec})
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

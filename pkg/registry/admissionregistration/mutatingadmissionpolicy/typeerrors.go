// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/typeerrors"
)

// checkTypes returns the type errors of a policy, unless the stored spec is the same in all
// that they depend on. On create that is empty.
func (s Strategy) checkTypes(policy *admissionregistration.MutatingAdmissionPolicy, stored *v1.MutatingAdmissionPolicySpec) field.ErrorList {
	sent := &v1.MutatingAdmissionPolicy{ObjectMeta: policy.ObjectMeta, Spec: policy.Spec}
	return typeerrors.Find(s.types, sent, checked(&policy.Spec), checked(stored))
}

// checked returns the part of a spec that decides whether it has type errors and whether
// they count.
func checked(spec *v1.MutatingAdmissionPolicySpec) v1.MutatingAdmissionPolicySpec {
	part := v1.MutatingAdmissionPolicySpec{
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		Variables:        spec.Variables,
		TypeChecking:     spec.TypeChecking,
	}
	for _, c := range spec.MatchConditions {
		part.MatchConditions = append(part.MatchConditions, v1.MatchCondition{Expression: c.Expression})
	}
	for _, m := range spec.Mutations {
		m.Message, m.Reason, m.ReinvocationPolicy = nil, nil, nil
		part.Mutations = append(part.Mutations, m)
	}
	return part
}

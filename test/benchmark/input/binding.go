// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Binding returns the i-th binding of a policy, with the action Deny, for namespaces with the given
// label.
func Binding(policy *v1.ValidatingAdmissionPolicy, i int, label, value string) *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: stored(number(policy.Name, i)),
		Spec: v1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy.Name,
			ValidationActions: []v1.ValidationAction{v1.Deny},
			MatchResources: &v1.MatchResources{
				MatchPolicy:       new(v1.Equivalent),
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}},
				ObjectSelector:    &metav1.LabelSelector{},
			},
		},
	}
}

// MatchingBinding returns the i-th binding of a policy. It matches the requests that Create
// returns.
func MatchingBinding(policy *v1.ValidatingAdmissionPolicy, i int) *v1.ValidatingAdmissionPolicyBinding {
	return Binding(policy, i, "environment", "production")
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionregistration

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicy is the internal form of the kind; see the v1 type.
type ValidatingAdmissionPolicy struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   v1.ValidatingAdmissionPolicySpec
	Status v1.ValidatingAdmissionPolicyStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicyList is the internal form of the list.
type ValidatingAdmissionPolicyList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []ValidatingAdmissionPolicy
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicyBinding is the internal form of the kind; see the v1 type.
type ValidatingAdmissionPolicyBinding struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec v1.ValidatingAdmissionPolicyBindingSpec
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicyBindingList is the internal form of the list.
type ValidatingAdmissionPolicyBindingList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []ValidatingAdmissionPolicyBinding
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionregistration

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicy is the internal form of the kind; see the v1 type.
type MutatingAdmissionPolicy struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec   v1.MutatingAdmissionPolicySpec
	Status v1.MutatingAdmissionPolicyStatus
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicyList is the internal form of the list.
type MutatingAdmissionPolicyList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []MutatingAdmissionPolicy
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicyBinding is the internal form of the kind; see the v1 type.
type MutatingAdmissionPolicyBinding struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Spec v1.MutatingAdmissionPolicyBindingSpec
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicyBindingList is the internal form of the list.
type MutatingAdmissionPolicyBindingList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []MutatingAdmissionPolicyBinding
}

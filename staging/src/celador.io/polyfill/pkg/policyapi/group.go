// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policyapi declares the API group of the polyfill, policy.celador.io. Its kinds have the
// names and Go types of the policies and bindings of admissionregistration.k8s.io, so everything
// that reads those types works with the group.
package policyapi

import (
	"k8s.io/apimachinery/pkg/runtime"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

// GroupVersion is the group and version of the polyfill's kinds.
var GroupVersion = v1.PolyfillGroupVersion

// AddToScheme registers the kinds and their lists. A scheme that also has the kinds of
// admissionregistration.k8s.io encodes objects in that group unless a version is asked for.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&v1.ValidatingAdmissionPolicy{}, &v1.ValidatingAdmissionPolicyList{},
		&v1.ValidatingAdmissionPolicyBinding{}, &v1.ValidatingAdmissionPolicyBindingList{},
		&v1.MutatingAdmissionPolicy{}, &v1.MutatingAdmissionPolicyList{},
		&v1.MutatingAdmissionPolicyBinding{}, &v1.MutatingAdmissionPolicyBindingList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

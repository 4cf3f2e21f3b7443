// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every kind in this package.
const GroupName = "admissionregistration.k8s.io"

// SchemeGroupVersion is the group and version of the kinds that AddToScheme
// registers.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// PolyfillGroupVersion is the group and version in which the polyfill serves the same kinds on
// clusters whose API server is not Celador's.
var PolyfillGroupVersion = schema.GroupVersion{Group: "policy.celador.io", Version: "v1"}

var (
	// SchemeBuilder collects the functions that AddToScheme calls. Generated code
	// adds to it.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme registers the policy kinds and their lists. It returns an error
	// if the scheme already maps one of these kinds to another Go type, such as the
	// type of k8s.io/api.
	AddToScheme = SchemeBuilder.AddToScheme
)

// Resource returns the group resource for an unqualified resource name.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&ValidatingAdmissionPolicy{}, &ValidatingAdmissionPolicyList{},
		&ValidatingAdmissionPolicyBinding{}, &ValidatingAdmissionPolicyBindingList{},
		&MutatingAdmissionPolicy{}, &MutatingAdmissionPolicyList{},
		&MutatingAdmissionPolicyBinding{}, &MutatingAdmissionPolicyBindingList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionregistration

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of every kind in this package.
const GroupName = "admissionregistration.k8s.io"

// SchemeGroupVersion is the internal version of the group.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}

// Resource returns the group resource for an unqualified resource name.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme registers the internal policy kinds and their lists.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&ValidatingAdmissionPolicy{}, &ValidatingAdmissionPolicyList{},
		&ValidatingAdmissionPolicyBinding{}, &ValidatingAdmissionPolicyBindingList{},
		&MutatingAdmissionPolicy{}, &MutatingAdmissionPolicyList{},
		&MutatingAdmissionPolicyBinding{}, &MutatingAdmissionPolicyBindingList{},
	)
	return nil
}

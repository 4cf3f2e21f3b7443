// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.36

// MutatingAdmissionPolicyBinding applies a MutatingAdmissionPolicy. It selects some
// of the requests that the policy matches, and the params for the policy.
//
// For a matching request, the policy is evaluated once for each binding and each
// param that the binding selects, or once for a binding without params. Each
// evaluation has its own CEL cost budget, so it cannot exceed its budget because of
// other bindings or params.
type MutatingAdmissionPolicyBinding struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec defines how the policy is applied.
	Spec MutatingAdmissionPolicyBindingSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.36

// MutatingAdmissionPolicyBindingList is a list of MutatingAdmissionPolicyBindings.
type MutatingAdmissionPolicyBindingList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata contains the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the bindings.
	Items []MutatingAdmissionPolicyBinding `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// MutatingAdmissionPolicyBindingSpec defines how a policy is applied.
type MutatingAdmissionPolicyBindingSpec struct {
	// policyName is the metadata.name of the policy. If no such policy exists, the
	// binding has no effect. Required.
	PolicyName string `json:"policyName,omitempty" protobuf:"bytes,1,rep,name=policyName"`

	// paramRef selects params among the objects of the policy's paramKind. It is
	// ignored if the policy has no paramKind.
	// +optional
	ParamRef *ParamRef `json:"paramRef,omitempty" protobuf:"bytes,2,rep,name=paramRef"`

	// matchResources restricts the requests that the policy's matchConstraints
	// select. It cannot extend them. If it is unset or has no resource rules, the
	// binding does not restrict resources. Rules may contain the operations CREATE,
	// UPDATE and CONNECT, or "*" for all three.
	// +optional
	MatchResources *MatchResources `json:"matchResources,omitempty" protobuf:"bytes,3,rep,name=matchResources"`

	// bindingType defines when the binding applies. If it is unset, the binding
	// applies to all requests that the policy and the binding match. Fallback
	// bindings apply to such a request only if none of the policy's other bindings
	// applies. A binding whose paramRef finds no params does not apply, unless its
	// parameterNotFoundAction is Deny. Alpha: requires the feature gate
	// MutatingAdmissionPolicyFallbackBinding.
	// +optional
	BindingType *BindingType `json:"bindingType,omitempty" protobuf:"bytes,1000,opt,name=bindingType,casttype=BindingType"`
}

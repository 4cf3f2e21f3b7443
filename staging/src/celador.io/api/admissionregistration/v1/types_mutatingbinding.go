// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicyBinding puts a MutatingAdmissionPolicy into effect: for
// which of the requests that the policy matches, and with which parameters.
//
// A matched request evaluates the policy once for each binding and each parameter
// the binding selects, or once for a binding without parameters. Each of these
// evaluations has a CEL cost budget of its own, so that other bindings and
// parameters never decide whether one exceeds it.
type MutatingAdmissionPolicyBinding struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is which policy takes effect where.
	Spec MutatingAdmissionPolicyBindingSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicyBindingList holds a page of bindings.
type MutatingAdmissionPolicyBindingList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the bindings.
	Items []MutatingAdmissionPolicyBinding `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// MutatingAdmissionPolicyBindingSpec is which policy takes effect where.
type MutatingAdmissionPolicyBindingSpec struct {
	// policyName is the policy's metadata.name. Required. As long as no such policy
	// exists, the binding has no effect.
	PolicyName string `json:"policyName,omitempty" protobuf:"bytes,1,rep,name=policyName"`

	// paramRef selects the policy's parameters among the objects of its paramKind.
	// It has no effect when the policy has no paramKind.
	// +optional
	ParamRef *ParamRef `json:"paramRef,omitempty" protobuf:"bytes,2,rep,name=paramRef"`

	// matchResources narrows what the policy's matchConstraints match; it cannot
	// widen it. Without it, or without resource rules in it, resources are not
	// narrowed further. Rules may list the operations CREATE, UPDATE and CONNECT;
	// "*" stands for these.
	// +optional
	MatchResources *MatchResources `json:"matchResources,omitempty" protobuf:"bytes,3,rep,name=matchResources"`
}

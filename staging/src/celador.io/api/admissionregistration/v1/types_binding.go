// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicyBinding puts a ValidatingAdmissionPolicy into effect:
// for which of the requests that the policy matches, with which parameters, and
// with what consequence.
//
// A matched request evaluates the policy once for each binding and each parameter
// the binding selects, or once for a binding without parameters. Each of these
// evaluations has a CEL cost budget of its own, so that other bindings and
// parameters never decide whether one exceeds it.
type ValidatingAdmissionPolicyBinding struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is which policy takes effect where, and how.
	// +required
	Spec ValidatingAdmissionPolicyBindingSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicyBindingList holds a page of bindings.
type ValidatingAdmissionPolicyBindingList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the bindings.
	Items []ValidatingAdmissionPolicyBinding `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ValidatingAdmissionPolicyBindingSpec is which policy takes effect where, and how.
type ValidatingAdmissionPolicyBindingSpec struct {
	// policyName is the policy's metadata.name. Required. As long as no such policy
	// exists, the binding has no effect.
	// +required
	PolicyName string `json:"policyName,omitempty" protobuf:"bytes,1,rep,name=policyName"`

	// paramRef selects the policy's parameters among the objects of its paramKind.
	// It has no effect when the policy has no paramKind.
	// +optional
	ParamRef *ParamRef `json:"paramRef,omitempty" protobuf:"bytes,2,rep,name=paramRef"`

	// matchResources narrows what the policy's matchConstraints match; it cannot
	// widen it. Without it, or without resource rules in it, resources are not
	// narrowed further.
	// +optional
	MatchResources *MatchResources `json:"matchResources,omitempty" protobuf:"bytes,3,rep,name=matchResources"`

	// validationActions is what a failed validation leads to; also a failure to
	// evaluate the policy, when its failurePolicy is Fail. Required, in any order,
	// each at most once:
	//
	// "Deny" refuses the request.
	//
	// "Warn" sends the message to the client in a Warning header (code 299),
	// whether or not the request is refused for other reasons.
	//
	// "Audit" adds the failure to the request's audit event, in the annotation
	// 'validation.policy.admission.k8s.io/validation_failure': a JSON list of
	// objects with the fields message, policy, binding, expressionIndex and
	// validationActions.
	//
	// Deny and Warn exclude each other, as the client would read the same message
	// twice. Clients should accept values that they do not know.
	// +listType=set
	// +required
	ValidationActions []ValidationAction `json:"validationActions,omitempty" protobuf:"bytes,4,rep,name=validationActions"`

	// bindingType says when the binding applies. Unset, it does to every request
	// that policy and binding match. Fallback applies to such a request only when no
	// binding of the policy that is not a Fallback does; several Fallback bindings
	// apply together. A binding with a paramRef that selects nothing does not apply,
	// unless its parameterNotFoundAction is Deny. Alpha: needs the feature gate
	// ValidatingAdmissionPolicyFallbackBinding.
	// +optional
	BindingType *BindingType `json:"bindingType,omitempty" protobuf:"bytes,1000,opt,name=bindingType,casttype=BindingType"`
}

// BindingType says when a binding applies.
// +enum
type BindingType string

const (
	// FallbackBinding applies when no other binding of the policy does.
	FallbackBinding BindingType = "Fallback"
)

// ParamRef selects parameter objects, either by name or by labels.
// +structType=atomic
type ParamRef struct {
	// name is the name of the one parameter object. Excludes selector; one of the
	// two is required.
	Name string `json:"name,omitempty" protobuf:"bytes,1,rep,name=name"`

	// namespace is where parameters are looked up, by name or by selector. For a
	// namespaced paramKind, leaving it empty takes parameters from the namespace of
	// the object under review; then no cluster-scoped resource may be matched. For a
	// cluster-scoped paramKind it has to be empty.
	// +optional
	Namespace string `json:"namespace,omitempty" protobuf:"bytes,2,rep,name=namespace"`

	// selector selects any number of parameter objects by their labels; the empty
	// selector selects all. The request has to satisfy the policy for each of them.
	// Excludes name; one of the two is required.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty" protobuf:"bytes,3,rep,name=selector"`

	// parameterNotFoundAction decides when name or selector finds nothing. Allow
	// means that the binding has nothing to object to; Deny hands the request to the
	// policy's failurePolicy. Required.
	ParameterNotFoundAction *ParameterNotFoundActionType `json:"parameterNotFoundAction,omitempty" protobuf:"bytes,4,rep,name=parameterNotFoundAction"`
}

// ParameterNotFoundActionType says what a binding does without parameters.
type ParameterNotFoundActionType string

const (
	// AllowAction admits requests as far as this binding is concerned.
	AllowAction ParameterNotFoundActionType = "Allow"
	// DenyAction leaves requests to the policy's failurePolicy.
	DenyAction ParameterNotFoundActionType = "Deny"
)

// ValidationAction is a consequence of a failed validation.
// +enum
type ValidationAction string

const (
	// Deny refuses the request.
	Deny ValidationAction = "Deny"
	// Warn sends the failure to the client as a warning.
	Warn ValidationAction = "Warn"
	// Audit records the failure in the request's audit event.
	Audit ValidationAction = "Audit"
)

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.30

// ValidatingAdmissionPolicyBinding applies a ValidatingAdmissionPolicy. It selects
// some of the requests that the policy matches, the params for the policy, and the
// actions for failed validations.
//
// For a matching request, the policy is evaluated once for each binding and each
// param that the binding selects, or once for a binding without params. Each
// evaluation has its own CEL cost budget, so it cannot exceed its budget because of
// other bindings or params.
type ValidatingAdmissionPolicyBinding struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec defines how the policy is applied.
	// +required
	Spec ValidatingAdmissionPolicyBindingSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.30

// ValidatingAdmissionPolicyBindingList is a list of
// ValidatingAdmissionPolicyBindings.
type ValidatingAdmissionPolicyBindingList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata contains the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the bindings.
	Items []ValidatingAdmissionPolicyBinding `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ValidatingAdmissionPolicyBindingSpec defines how a policy is applied.
type ValidatingAdmissionPolicyBindingSpec struct {
	// policyName is the metadata.name of the policy. If no such policy exists, the
	// binding has no effect. Required.
	// +required
	PolicyName string `json:"policyName,omitempty" protobuf:"bytes,1,rep,name=policyName"`

	// paramRef selects params among the objects of the policy's paramKind. It is
	// ignored if the policy has no paramKind.
	// +optional
	ParamRef *ParamRef `json:"paramRef,omitempty" protobuf:"bytes,2,rep,name=paramRef"`

	// matchResources restricts the requests that the policy's matchConstraints
	// select. It cannot extend them. If it is unset or has no resource rules, the
	// binding does not restrict resources.
	// +optional
	MatchResources *MatchResources `json:"matchResources,omitempty" protobuf:"bytes,3,rep,name=matchResources"`

	// validationActions are the actions for a failed validation, and for a failure
	// to evaluate the policy if its failurePolicy is Fail. Each action may be
	// listed once, in any order. Required.
	//
	// "Deny" rejects the request.
	//
	// "Warn" returns the message to the client in a Warning header (code 299),
	// whether or not the request is rejected.
	//
	// "Audit" adds the failure to the audit event of the request, in the annotation
	// 'validation.policy.admission.k8s.io/validation_failure': a JSON list of
	// objects with the fields message, policy, binding, expressionIndex and
	// validationActions.
	//
	// Deny and Warn must not be used together, because the client would receive the
	// same message twice. Clients should accept unknown values.
	// +listType=set
	// +required
	ValidationActions []ValidationAction `json:"validationActions,omitempty" protobuf:"bytes,4,rep,name=validationActions"`

	// bindingType defines when the binding applies. If it is unset, the binding
	// applies to all requests that the policy and the binding match. Fallback
	// bindings apply to such a request only if none of the policy's other bindings
	// applies. A binding whose paramRef finds no params does not apply, unless its
	// parameterNotFoundAction is Deny. Alpha: requires the feature gate
	// ValidatingAdmissionPolicyFallbackBinding.
	// +optional
	BindingType *BindingType `json:"bindingType,omitempty" protobuf:"bytes,1000,opt,name=bindingType,casttype=BindingType"`
}

// BindingType defines when a binding applies.
// +enum
type BindingType string

const (
	// FallbackBinding applies if no other binding of the policy does.
	FallbackBinding BindingType = "Fallback"
)

// ParamRef selects params by name or by labels.
// +structType=atomic
type ParamRef struct {
	// name is the name of the param. Excludes selector; one of the two is required.
	Name string `json:"name,omitempty" protobuf:"bytes,1,rep,name=name"`

	// namespace is the namespace of the params. If the paramKind is namespaced and
	// namespace is empty, params are taken from the namespace of the request's
	// object; the policy must then not match cluster-scoped resources. If the
	// paramKind is cluster-scoped, namespace must be empty.
	// +optional
	Namespace string `json:"namespace,omitempty" protobuf:"bytes,2,rep,name=namespace"`

	// selector selects params by their labels. The empty selector selects all
	// objects of the paramKind. The policy is evaluated once for each param.
	// Excludes name; one of the two is required.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty" protobuf:"bytes,3,rep,name=selector"`

	// parameterNotFoundAction defines the behavior if name or selector finds no
	// params. Allow skips the binding. Deny applies the failurePolicy of the
	// policy. Required.
	ParameterNotFoundAction *ParameterNotFoundActionType `json:"parameterNotFoundAction,omitempty" protobuf:"bytes,4,rep,name=parameterNotFoundAction"`
}

// ParameterNotFoundActionType defines the behavior of a binding that finds no
// params.
type ParameterNotFoundActionType string

const (
	// AllowAction skips the binding.
	AllowAction ParameterNotFoundActionType = "Allow"
	// DenyAction applies the policy's failurePolicy.
	DenyAction ParameterNotFoundActionType = "Deny"
)

// ValidationAction is an action for a failed validation.
// +enum
type ValidationAction string

const (
	// Deny rejects the request.
	Deny ValidationAction = "Deny"
	// Warn returns the failure to the client as a warning.
	Warn ValidationAction = "Warn"
	// Audit adds the failure to the audit event of the request.
	Audit ValidationAction = "Audit"
)

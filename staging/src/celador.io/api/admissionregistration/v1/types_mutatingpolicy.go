// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicy states changes, written in CEL, that the server makes to
// objects on their way into storage. It takes effect only through a
// MutatingAdmissionPolicyBinding that names it.
type MutatingAdmissionPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the policy matches and what it changes.
	Spec MutatingAdmissionPolicySpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`

	// status is what the server found out about the policy, type-checking
	// warnings among it. The server writes it; clients only read it.
	// +optional
	Status MutatingAdmissionPolicyStatus `json:"status,omitempty,omitzero" protobuf:"bytes,1000,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MutatingAdmissionPolicyList holds a page of policies.
type MutatingAdmissionPolicyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the policies.
	Items []MutatingAdmissionPolicy `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// MutatingAdmissionPolicySpec is what a policy matches and what it changes.
type MutatingAdmissionPolicySpec struct {
	// paramKind is the kind of object that configures this policy. Bindings pick
	// the objects, expressions read them as 'params'. Without it the policy takes
	// no parameters and 'params' is not declared. When the server does not know
	// the kind, requests the policy matches are handled by failurePolicy. When a
	// binding has no paramRef, 'params' is null.
	// +optional
	ParamKind *ParamKind `json:"paramKind,omitempty" protobuf:"bytes,1,rep,name=paramKind"`

	// matchConstraints limits the requests that the policy looks at; a request
	// has to meet all of them. Required. Rules may list the operations CREATE,
	// UPDATE and CONNECT; "*" stands for these. Requests for policies and bindings
	// themselves never match, so that a wrong policy can always be removed.
	MatchConstraints *MatchResources `json:"matchConstraints,omitempty" protobuf:"bytes,2,rep,name=matchConstraints"`

	// variables name expressions that the others reuse as 'variables.<name>'. A
	// variable is evaluated at most once, when first read, and may read those
	// that stand before it in the list. Match conditions cannot read variables.
	// +listType=atomic
	// +optional
	Variables []Variable `json:"variables,omitempty" protobuf:"bytes,3,rep,name=variables"`

	// mutations are the changes, made one after the other: each sees the object as
	// the one before it has left it. At least one is required. All of them are made
	// for each binding and each parameter that the binding selects.
	// +listType=atomic
	// +optional
	Mutations []Mutation `json:"mutations,omitempty" protobuf:"bytes,4,rep,name=mutations"`

	// failurePolicy decides over requests for which the policy cannot be
	// evaluated: an expression ends in an error, its cost exceeds the limit, a
	// change cannot be made, or policy, binding or parameters are misconfigured.
	// Fail refuses the request; Ignore lets it go on without the change. Defaults
	// to Fail.
	// +optional
	FailurePolicy *FailurePolicyType `json:"failurePolicy,omitempty" protobuf:"bytes,5,opt,name=failurePolicy,casttype=FailurePolicyType"`

	// matchConditions narrow, in CEL, what rules and selectors have matched. At
	// most 64. They see the same variables as mutations, 'variables' excepted.
	// If one is false, the policy is skipped. If none is false and one ends in an
	// error, failurePolicy decides: Fail rejects the request, Ignore skips the
	// policy. Otherwise the policy is evaluated.
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +optional
	MatchConditions []MatchCondition `json:"matchConditions,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,6,rep,name=matchConditions"`

	// reinvocationPolicy says whether the mutations of a binding may be made again
	// in the same request. Never makes them once. IfNeeded makes them again when
	// another policy, webhook or plugin has changed the object since; in what order
	// is not defined. Required.
	ReinvocationPolicy ReinvocationPolicyType `json:"reinvocationPolicy,omitempty" protobuf:"bytes,7,opt,name=reinvocationPolicy,casttype=ReinvocationPolicyType"`

	// typeChecking says what type errors lead to: expressions that do not fit the
	// types which matchConstraints and paramKind name. Informational reports them in
	// the status and changes nothing else. Enforced refuses to store a policy with
	// errors against built-in types; as long as there are errors against custom
	// resources, requests that the policy matches are handled by failurePolicy. Unset
	// means Informational. Alpha: needs the feature gate
	// AdmissionPolicyTypeEnforcement.
	// +optional
	TypeChecking *TypeCheckingMode `json:"typeChecking,omitempty" protobuf:"bytes,1000,opt,name=typeChecking,casttype=TypeCheckingMode"`
}

// MutatingAdmissionPolicyStatus is what the server found out about a policy. Its fields
// are those of ValidatingAdmissionPolicyStatus.
type MutatingAdmissionPolicyStatus struct {
	// observedGeneration is the metadata.generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// typeChecking is the outcome of checking the expressions against the schemas
	// of the matched kinds. It is set once the check is done.
	// +optional
	TypeChecking *TypeChecking `json:"typeChecking,omitempty" protobuf:"bytes,2,opt,name=typeChecking"`

	// conditions are the latest observations of the policy's state. Available is
	// False, with the reason Misconfigured, when something keeps the policy from
	// deciding as written; the message says what. TypeChecked is True when the
	// expressions fit the types that they are applied to.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" protobuf:"bytes,3,rep,name=conditions"`

	// observedCustomResources are the custom resources, matched or used as
	// parameters, whose definitions this status is based on.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=version
	// +listMapKey=kind
	ObservedCustomResources []ObservedCustomResource `json:"observedCustomResources,omitempty" protobuf:"bytes,1000,rep,name=observedCustomResources"`
}

// ReinvocationPolicyType says whether a mutation may be made again in the same request.
// +enum
type ReinvocationPolicyType string

const (
	// NeverReinvocationPolicy makes a mutation once.
	NeverReinvocationPolicy ReinvocationPolicyType = "Never"
	// IfNeededReinvocationPolicy makes a mutation again when the object was changed after it.
	IfNeededReinvocationPolicy ReinvocationPolicyType = "IfNeeded"
)

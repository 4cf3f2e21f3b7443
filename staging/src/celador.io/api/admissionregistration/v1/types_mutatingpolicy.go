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

// MutatingAdmissionPolicy changes objects in API requests, before they are stored,
// as expressions written in CEL define. It applies through a
// MutatingAdmissionPolicyBinding that names it.
type MutatingAdmissionPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec selects requests and defines the changes of their objects.
	Spec MutatingAdmissionPolicySpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`

	// status contains observations of the server about the policy, such as
	// type-checking warnings. Clients cannot set it.
	// +optional
	Status MutatingAdmissionPolicyStatus `json:"status,omitempty,omitzero" protobuf:"bytes,1000,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.36

// MutatingAdmissionPolicyList is a list of MutatingAdmissionPolicies.
type MutatingAdmissionPolicyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata contains the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the policies.
	Items []MutatingAdmissionPolicy `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// MutatingAdmissionPolicySpec selects requests and defines the changes of their
// objects.
type MutatingAdmissionPolicySpec struct {
	// paramKind is the kind of the objects that configure this policy. Bindings
	// select objects of this kind, and expressions read them as 'params'. If
	// paramKind is unset, 'params' is not declared. If the server does not serve
	// the kind, failurePolicy applies to matching requests. If a binding has no
	// paramRef, 'params' is null.
	// +optional
	ParamKind *ParamKind `json:"paramKind,omitempty" protobuf:"bytes,1,rep,name=paramKind"`

	// matchConstraints selects the requests that the policy is evaluated for. Rules
	// may contain the operations CREATE, UPDATE and CONNECT, or "*" for all three.
	// Required. Requests for policies and bindings never match, so that an
	// incorrect policy can always be deleted.
	MatchConstraints *MatchResources `json:"matchConstraints,omitempty" protobuf:"bytes,2,rep,name=matchConstraints"`

	// variables are named expressions that other expressions read as
	// 'variables.<name>'. A variable is evaluated on its first read, and at most
	// once. Its expression may read the variables that precede it in the list.
	// Match conditions cannot read variables.
	// +listType=atomic
	// +optional
	Variables []Variable `json:"variables,omitempty" protobuf:"bytes,3,rep,name=variables"`

	// mutations are the changes of the object. They are applied in order, and each
	// reads the object that the previous one has returned. All mutations are
	// applied once for each binding and each param that the binding selects. At
	// least one is required.
	// +listType=atomic
	// +optional
	Mutations []Mutation `json:"mutations,omitempty" protobuf:"bytes,4,rep,name=mutations"`

	// failurePolicy defines how a failure to evaluate the policy is handled: an
	// expression returns an error, the cost exceeds the limit, a patch cannot be
	// applied, or the policy, a binding or a param is misconfigured. Fail rejects
	// the request. Ignore admits the request without the change. Defaults to Fail.
	// +optional
	FailurePolicy *FailurePolicyType `json:"failurePolicy,omitempty" protobuf:"bytes,5,opt,name=failurePolicy,casttype=FailurePolicyType"`

	// matchConditions are CEL expressions that further restrict the requests which
	// matchConstraints select. They may read the same variables as mutations,
	// except 'variables'. At most 64.
	//
	// If a condition is false, the policy is skipped. If none is false and one
	// returns an error, failurePolicy applies: Fail rejects the request, Ignore
	// skips the policy. If all conditions are true, the policy is evaluated.
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +optional
	MatchConditions []MatchCondition `json:"matchConditions,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,6,rep,name=matchConditions"`

	// reinvocationPolicy defines whether the mutations of a binding may be applied
	// again to the same request. Never applies them once. IfNeeded applies them
	// again if another policy, webhook or plugin has changed the object afterwards;
	// the order is undefined. Required.
	ReinvocationPolicy ReinvocationPolicyType `json:"reinvocationPolicy,omitempty" protobuf:"bytes,7,opt,name=reinvocationPolicy,casttype=ReinvocationPolicyType"`

	// typeChecking defines how type errors are handled. An expression has a type
	// error if it does not fit the schema of a kind that matchConstraints or
	// paramKind selects. Informational reports type errors in the status. Enforced
	// also rejects writes of a policy that has type errors for built-in kinds, and
	// applies failurePolicy to matching requests while the policy has type errors
	// for custom resources. It accepts fields that has() guards. If matchConstraints
	// contains a "*" in groups, versions or resources, it accepts only metadata and
	// such fields. Defaults to Informational. Alpha: requires the feature gate
	// AdmissionPolicyTypeEnforcement.
	// +optional
	TypeChecking *TypeCheckingMode `json:"typeChecking,omitempty" protobuf:"bytes,1000,opt,name=typeChecking,casttype=TypeCheckingMode"`

	// policyType defines how the policy is applied. If it is unset, the policy is
	// applied through bindings. Singleton applies the policy to all requests that
	// it matches, without a binding; the request is rejected if the policy cannot
	// be applied and failurePolicy is Fail. A Singleton must not have a paramKind,
	// and bindings must not refer to it. Alpha: requires the feature gate
	// MutatingAdmissionPolicySingleton.
	// +optional
	PolicyType *PolicyType `json:"policyType,omitempty" protobuf:"bytes,1001,opt,name=policyType,casttype=PolicyType"`

	// lookups declare objects of other kinds, which expressions read as
	// 'lookups.<name>':
	//
	// - 'get(name)' and 'get(namespace, name)' return an optional of the object. The
	// namespace defaults to that of the request.
	//
	// - 'list()' and 'list(labelSelector)' return the objects in the order of
	// namespaces and names.
	//
	// - 'indexed(key)' returns the objects that the index has under the key.
	//
	// All expressions of a policy that is evaluated for a request see the same
	// objects. Whoever creates a policy
	// or changes its lookups must be allowed to list and watch all objects of the
	// kinds. At most 16. Alpha: requires the feature gate AdmissionPolicyLookups.
	// +listType=map
	// +listMapKey=name
	// +optional
	Lookups []Lookup `json:"lookups,omitempty" protobuf:"bytes,1002,rep,name=lookups"`
}

// MutatingAdmissionPolicyStatus contains observations of the server about a policy.
// It has the same fields as ValidatingAdmissionPolicyStatus.
type MutatingAdmissionPolicyStatus struct {
	// observedGeneration is the metadata.generation that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`

	// typeChecking is the result of checking the expressions against the schemas of
	// the matched kinds. It is unset until the check has ended.
	// +optional
	TypeChecking *TypeChecking `json:"typeChecking,omitempty" protobuf:"bytes,2,opt,name=typeChecking"`

	// conditions are the latest observations of the policy's state. Available is
	// False, with the reason Misconfigured, if the policy cannot be evaluated as
	// specified; the message names the problem. TypeChecked is True if the
	// expressions fit all kinds that they apply to.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" protobuf:"bytes,3,rep,name=conditions"`

	// observedCustomResources are the matched custom resources, and the custom
	// resources used as params, whose CustomResourceDefinitions this status is
	// based on.
	// +optional
	// +listType=map
	// +listMapKey=group
	// +listMapKey=version
	// +listMapKey=kind
	ObservedCustomResources []ObservedCustomResource `json:"observedCustomResources,omitempty" protobuf:"bytes,1000,rep,name=observedCustomResources"`
}

// ReinvocationPolicyType defines whether a mutation may be applied again to the
// same request.
// +enum
type ReinvocationPolicyType string

const (
	// NeverReinvocationPolicy applies a mutation once.
	NeverReinvocationPolicy ReinvocationPolicyType = "Never"
	// IfNeededReinvocationPolicy applies a mutation again if the object was changed
	// after it.
	IfNeededReinvocationPolicy ReinvocationPolicyType = "IfNeeded"
)

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:supportsSubresource="/status"

// ValidatingAdmissionPolicy states rules, written in CEL, that writes to the API
// have to satisfy. It takes effect only through a ValidatingAdmissionPolicyBinding
// that names it, unless it is a Singleton, and it never changes the object under
// review.
type ValidatingAdmissionPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec is what the policy matches and what it demands.
	Spec ValidatingAdmissionPolicySpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`

	// status is what the server found out about the policy, type-checking
	// warnings among it. The server writes it; clients only read it.
	// +optional
	Status ValidatingAdmissionPolicyStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ValidatingAdmissionPolicyList holds a page of policies.
type ValidatingAdmissionPolicyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the policies.
	Items []ValidatingAdmissionPolicy `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ValidatingAdmissionPolicySpec is what a policy matches and what it demands.
type ValidatingAdmissionPolicySpec struct {
	// paramKind is the kind of object that configures this policy. Bindings pick
	// the objects, expressions read them as 'params'. Without it the policy takes
	// no parameters and 'params' is not declared. When the server does not know
	// the kind, requests the policy matches are handled by failurePolicy. When a
	// binding has no paramRef, 'params' is null.
	// +optional
	ParamKind *ParamKind `json:"paramKind,omitempty" protobuf:"bytes,1,rep,name=paramKind"`

	// matchConstraints limits the requests that the policy looks at; a request
	// has to meet all of them. Required. Requests for policies and bindings
	// themselves never match, so that a wrong policy can always be removed.
	MatchConstraints *MatchResources `json:"matchConstraints,omitempty" protobuf:"bytes,2,rep,name=matchConstraints"`

	// validations are the rules that a matched request has to satisfy. At least
	// one validation or one audit annotation is required.
	// +listType=atomic
	// +optional
	Validations []Validation `json:"validations,omitempty" protobuf:"bytes,3,rep,name=validations"`

	// failurePolicy decides over requests for which the policy cannot be
	// evaluated: an expression ends in an error, its cost exceeds the limit, or
	// policy, binding or parameters are misconfigured. Fail treats the error as a
	// failed validation, which bindings enforce by their validationActions;
	// Ignore lets the request pass. Defaults to Fail. A validation that evaluates
	// to false is not a failure in this sense.
	// +optional
	FailurePolicy *FailurePolicyType `json:"failurePolicy,omitempty" protobuf:"bytes,4,opt,name=failurePolicy,casttype=FailurePolicyType"`

	// auditAnnotations add values, computed by CEL, to the audit event of each
	// matched request. At least one validation or one audit annotation is
	// required.
	// +listType=atomic
	// +optional
	AuditAnnotations []AuditAnnotation `json:"auditAnnotations,omitempty" protobuf:"bytes,5,rep,name=auditAnnotations"`

	// matchConditions narrow, in CEL, what rules and selectors have matched. At
	// most 64. They see the same variables as validations, 'variables' excepted.
	// If one is false, the policy is skipped. If none is false and one ends in an
	// error, failurePolicy decides: Fail rejects the request, Ignore skips the
	// policy. Otherwise the policy is evaluated.
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +optional
	MatchConditions []MatchCondition `json:"matchConditions,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,6,rep,name=matchConditions"`

	// variables name expressions that the others reuse as 'variables.<name>'. A
	// variable is evaluated at most once, when first read, and may read those
	// that stand before it in the list. Match conditions cannot read variables.
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +optional
	Variables []Variable `json:"variables,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,7,rep,name=variables"`

	// policyType says how the policy takes effect. Unset, it does through bindings.
	// Singleton takes effect without a binding, for all requests that it matches; a
	// failed validation refuses the request, and so does a failure to evaluate the
	// policy when its failurePolicy is Fail. A Singleton has no paramKind, and
	// bindings must not name it. Alpha: needs the feature gate
	// ValidatingAdmissionPolicySingleton.
	// +optional
	PolicyType *PolicyType `json:"policyType,omitempty" protobuf:"bytes,1000,opt,name=policyType,casttype=PolicyType"`

	// typeChecking says what type errors lead to: expressions that do not fit the
	// types which matchConstraints and paramKind name. Informational reports them in
	// the status and changes nothing else. Enforced refuses to store a policy with
	// errors against built-in types; as long as there are errors against custom
	// resources, requests that the policy matches are handled by failurePolicy. Unset
	// means Informational. Alpha: needs the feature gate
	// AdmissionPolicyTypeEnforcement.
	// +optional
	TypeChecking *TypeCheckingMode `json:"typeChecking,omitempty" protobuf:"bytes,1001,opt,name=typeChecking,casttype=TypeCheckingMode"`
}

// PolicyType says how a policy takes effect.
// +enum
type PolicyType string

const (
	// SingletonPolicy takes effect without a binding.
	SingletonPolicy PolicyType = "Singleton"
)

// TypeCheckingMode says what the type errors of a policy lead to.
// +enum
type TypeCheckingMode string

const (
	// InformationalTypeChecking reports type errors in the status.
	InformationalTypeChecking TypeCheckingMode = "Informational"
	// EnforcedTypeChecking keeps a policy with type errors from being stored or from
	// deciding over requests.
	EnforcedTypeChecking TypeCheckingMode = "Enforced"
)

// FailurePolicyType says what it means for a request that a policy cannot be evaluated.
// +enum
type FailurePolicyType string

const (
	// Ignore admits the request as far as this policy is concerned.
	Ignore FailurePolicyType = "Ignore"
	// Fail treats the request as one that does not satisfy the policy.
	Fail FailurePolicyType = "Fail"
)

// ParamKind names the kind of a policy's parameters.
// +structType=atomic
type ParamKind struct {
	// apiVersion is the group and version of the kind, as in "rules.example.com/v1",
	// or the version alone for the core group. Required.
	APIVersion string `json:"apiVersion,omitempty" protobuf:"bytes,1,rep,name=apiVersion"`

	// kind is the kind itself, as in "ReplicaLimit". Required.
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,rep,name=kind"`
}

// Validation is one rule of a policy.
type Validation struct {
	// expression is a CEL expression (https://cel.dev) that is true for acceptable
	// requests. Required. It may read:
	//
	// - 'object': the object as it would be stored; null for DELETE.
	//
	// - 'oldObject': the object as it is stored now; null for CREATE.
	//
	// - 'request': what is asked for: operation, resource, user and so on, in the
	// shape of admission.k8s.io/v1 AdmissionRequest, without the objects.
	//
	// - 'params': the parameter object that the binding selects, for a policy with
	// paramKind.
	//
	// - 'namespaceObject': the namespace of the object; null when the resource is
	// cluster-scoped.
	//
	// - 'variables': the results of spec.variables, by name.
	//
	// - 'authorizer': answers what the requesting user may do; the request's own
	// resource is 'authorizer.requestResource'.
	//
	// A property is reachable when its name matches [a-zA-Z_.-/][a-zA-Z0-9_.-/]*.
	// Characters and words that CEL does not allow in a name are written as
	// '__dot__' for '.', '__dash__' for '-', '__slash__' for '/', '__underscores__'
	// for '__', and '__in__', '__namespace__' and so forth for CEL's keywords.
	// So the property "x-prop" is object.x__dash__prop.
	//
	// Lists with x-kubernetes-list-type set or map compare without regard to order,
	// and '+' on them forms the union (set) or merges by key (map).
	Expression string `json:"expression" protobuf:"bytes,1,opt,name=Expression"`

	// message is what the client reads when the expression is false. A single
	// line. Without it the message is "failed expression: " and the expression,
	// which is why an expression with line breaks requires one.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`

	// reason is the machine-readable cause in the response when this is the first
	// validation to fail; the HTTP status code follows it. One of "Forbidden",
	// "Invalid" and "RequestEntityTooLarge". Defaults to "Invalid" in
	// the response.
	// +optional
	Reason *metav1.StatusReason `json:"reason,omitempty" protobuf:"bytes,3,opt,name=reason"`

	// messageExpression is a CEL expression of type string that computes the
	// message; it wins over message. If it ends in an error, or in a text that is
	// blank or has line breaks, the server logs that and falls back to message.
	// It reads what expression may read, but not 'authorizer'. For example:
	// "at most " + string(params.maxReplicas) + " replicas are allowed"
	// +optional
	MessageExpression string `json:"messageExpression,omitempty" protobuf:"bytes,4,opt,name=messageExpression"`

	// failurePolicy decides, instead of spec.failurePolicy, when this expression
	// does not compile or ends in an error. What keeps the whole policy from being
	// evaluated stays with spec.failurePolicy: its cost budget, match conditions,
	// parameters and configuration. Defaults to spec.failurePolicy. Alpha: needs the
	// feature gate ValidatingAdmissionPolicyValidationFailurePolicy.
	// +optional
	FailurePolicy *FailurePolicyType `json:"failurePolicy,omitempty" protobuf:"bytes,1000,opt,name=failurePolicy,casttype=FailurePolicyType"`
}

// Variable gives an expression a name.
// +structType=atomic
type Variable struct {
	// name is a CEL identifier, unique within the policy. Others read the value as
	// 'variables.<name>'.
	Name string `json:"name" protobuf:"bytes,1,opt,name=Name"`

	// expression computes the value. It reads what validations may read, and the
	// variables before it.
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=Expression"`
}

// AuditAnnotation computes one annotation of a request's audit event.
type AuditAnnotation struct {
	// key is the second part of the annotation's name, which is "{policy name}/{key}".
	// Required, unique within the policy, a qualified name of at most 63 bytes. An
	// admission webhook of the same name could write the same annotation; the
	// first to write it wins.
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`

	// valueExpression is a CEL expression of at most 5 kB that gives a string or
	// null. Required. Null and the empty string leave the annotation out; what
	// exceeds 10 kB is cut off. When several bindings or parameters give different
	// values, the annotation holds all of them, separated by commas.
	ValueExpression string `json:"valueExpression" protobuf:"bytes,2,opt,name=valueExpression"`
}

// ValidatingAdmissionPolicyStatus is what the server found out about a policy.
type ValidatingAdmissionPolicyStatus struct {
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

// ObservedCustomResource says which state of a CustomResourceDefinition was looked at.
type ObservedCustomResource struct {
	// group is the API group of the custom resource.
	Group string `json:"group" protobuf:"bytes,1,opt,name=group"`

	// version is the version of the custom resource whose schema was looked at.
	Version string `json:"version" protobuf:"bytes,2,opt,name=version"`

	// kind is the kind of the custom resource.
	Kind string `json:"kind" protobuf:"bytes,3,opt,name=kind"`

	// generation is the metadata.generation of the CustomResourceDefinition, or 0 when
	// there was none.
	Generation int64 `json:"generation" protobuf:"varint,4,opt,name=generation"`

	// uid is the metadata.uid of the CustomResourceDefinition, and empty when there was
	// none. Generations tell older from newer only where the uid is the same: one that is
	// created again starts at 1.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,5,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
}

// TypeChecking is the outcome of checking a policy's expressions against the
// schemas of the kinds they apply to.
type TypeChecking struct {
	// expressionWarnings has one entry for each expression that does not fit.
	// +optional
	// +listType=atomic
	ExpressionWarnings []ExpressionWarning `json:"expressionWarnings,omitempty" protobuf:"bytes,1,rep,name=expressionWarnings"`
}

// ExpressionWarning says what type checking found wrong with one expression.
type ExpressionWarning struct {
	// fieldRef is the field that holds the expression, as in
	// "spec.validations[0].expression".
	FieldRef string `json:"fieldRef" protobuf:"bytes,2,opt,name=fieldRef"`

	// warning is text for people: for each kind that the expression does not fit,
	// the kind and then the compiler's message.
	Warning string `json:"warning" protobuf:"bytes,3,opt,name=warning"`
}

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
// +k8s:prerelease-lifecycle-gen:introduced=1.30

// ValidatingAdmissionPolicy accepts or rejects API requests by rules written in
// CEL. It applies through a ValidatingAdmissionPolicyBinding that names it, unless
// it is a Singleton. It never changes objects.
type ValidatingAdmissionPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec selects requests and defines the rules for them.
	Spec ValidatingAdmissionPolicySpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`

	// status contains observations of the server about the policy, such as
	// type-checking warnings. Clients cannot set it.
	// +optional
	Status ValidatingAdmissionPolicyStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.30

// ValidatingAdmissionPolicyList is a list of ValidatingAdmissionPolicies.
type ValidatingAdmissionPolicyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata contains the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the policies.
	Items []ValidatingAdmissionPolicy `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ValidatingAdmissionPolicySpec selects requests and defines the rules for them.
type ValidatingAdmissionPolicySpec struct {
	// paramKind is the kind of the objects that configure this policy. Bindings
	// select objects of this kind, and expressions read them as 'params'. If
	// paramKind is unset, 'params' is not declared. If the server does not serve
	// the kind, failurePolicy applies to matching requests. If a binding has no
	// paramRef, 'params' is null.
	// +optional
	ParamKind *ParamKind `json:"paramKind,omitempty" protobuf:"bytes,1,rep,name=paramKind"`

	// matchConstraints selects the requests that the policy is evaluated for.
	// Required. Requests for policies and bindings never match, so that an
	// incorrect policy can always be deleted.
	MatchConstraints *MatchResources `json:"matchConstraints,omitempty" protobuf:"bytes,2,rep,name=matchConstraints"`

	// validations are the rules for matching requests. A policy must have at least
	// one validation or audit annotation.
	// +listType=atomic
	// +optional
	Validations []Validation `json:"validations,omitempty" protobuf:"bytes,3,rep,name=validations"`

	// failurePolicy defines how a failure to evaluate the policy is handled: an
	// expression returns an error, the cost exceeds the limit, or the policy, a
	// binding or a param is misconfigured. Fail treats the failure like a failed
	// validation, which validationActions of the binding enforce. Ignore admits the
	// request. A validation that evaluates to false is not such a failure. Defaults
	// to Fail.
	// +optional
	FailurePolicy *FailurePolicyType `json:"failurePolicy,omitempty" protobuf:"bytes,4,opt,name=failurePolicy,casttype=FailurePolicyType"`

	// auditAnnotations compute values for the audit event of each matching request.
	// A policy must have at least one validation or audit annotation.
	// +listType=atomic
	// +optional
	AuditAnnotations []AuditAnnotation `json:"auditAnnotations,omitempty" protobuf:"bytes,5,rep,name=auditAnnotations"`

	// matchConditions are CEL expressions that further restrict the requests which
	// matchConstraints select. They may read the same variables as validations,
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

	// variables are named expressions that other expressions read as
	// 'variables.<name>'. A variable is evaluated on its first read, and at most
	// once. Its expression may read the variables that precede it in the list.
	// Match conditions cannot read variables.
	// +patchMergeKey=name
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=name
	// +optional
	Variables []Variable `json:"variables,omitempty" patchStrategy:"merge" patchMergeKey:"name" protobuf:"bytes,7,rep,name=variables"`

	// policyType defines how the policy is applied. If it is unset, the policy is
	// applied through bindings. Singleton applies the policy to all requests that
	// it matches, without a binding; the request is rejected if a validation fails,
	// or if the policy cannot be evaluated and failurePolicy is Fail. A Singleton
	// must not have a paramKind, and bindings must not refer to it. Alpha: requires
	// the feature gate ValidatingAdmissionPolicySingleton.
	// +optional
	PolicyType *PolicyType `json:"policyType,omitempty" protobuf:"bytes,1000,opt,name=policyType,casttype=PolicyType"`

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
	TypeChecking *TypeCheckingMode `json:"typeChecking,omitempty" protobuf:"bytes,1001,opt,name=typeChecking,casttype=TypeCheckingMode"`

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

// PolicyType defines how a policy is applied.
// +enum
type PolicyType string

const (
	// SingletonPolicy applies the policy without a binding.
	SingletonPolicy PolicyType = "Singleton"
)

// TypeCheckingMode defines how type errors of a policy are handled.
// +enum
type TypeCheckingMode string

const (
	// InformationalTypeChecking reports type errors in the status.
	InformationalTypeChecking TypeCheckingMode = "Informational"
	// EnforcedTypeChecking prevents a policy with type errors from being stored or
	// evaluated.
	EnforcedTypeChecking TypeCheckingMode = "Enforced"
)

// FailurePolicyType defines how a failure to evaluate a policy is handled.
// +enum
type FailurePolicyType string

const (
	// Ignore admits the request.
	Ignore FailurePolicyType = "Ignore"
	// Fail treats the failure like a failed validation. If the policy is a mutating
	// one, it rejects the request.
	Fail FailurePolicyType = "Fail"
)

// ParamKind is the kind of a policy's params.
// +structType=atomic
type ParamKind struct {
	// apiVersion is the group and version of the kind, such as
	// "rules.example.com/v1", or only the version for the core group. Required.
	APIVersion string `json:"apiVersion,omitempty" protobuf:"bytes,1,rep,name=apiVersion"`

	// kind is the name of the kind, such as "ReplicaLimit". Required.
	Kind string `json:"kind,omitempty" protobuf:"bytes,2,rep,name=kind"`
}

// Validation is one rule of a policy.
type Validation struct {
	// expression is a CEL expression (https://cel.dev) that evaluates to true for
	// requests to admit. Required. It may read:
	//
	// - 'object': the object that would be stored; null for DELETE.
	//
	// - 'oldObject': the stored object; null for CREATE.
	//
	// - 'request': the attributes of the request, such as operation, resource and
	// user, with the fields of admission.k8s.io/v1 AdmissionRequest except the
	// objects. With the feature gate AdmissionPolicyRequestTime, 'request.time' is
	// the time at which the server received it.
	//
	// - 'params': the param that the binding selects, if the policy has a
	// paramKind.
	//
	// - 'namespaceObject': the namespace of the object; null for cluster-scoped
	// resources.
	//
	// - 'variables': the values of spec.variables, by name.
	//
	// - 'authorizer': authorization checks for the requesting user;
	// 'authorizer.requestResource' checks the resource of the request.
	//
	// Fields are read by their own names, which are not escaped: write a name that
	// is not an identifier, or is one of 'true', 'false', 'null' and 'in', in
	// backticks, or index the object with it. For example, object.spec.`x-prop` and
	// object.spec['x-prop'] read the field "x-prop", and has(object.spec.`x-prop`)
	// tests for it.
	//
	// Lists are equal if they have equal items in the same order, and '+'
	// concatenates lists, whatever their x-kubernetes-list-type.
	Expression string `json:"expression" protobuf:"bytes,1,opt,name=Expression"`

	// message is returned to the client if the expression is false. It must be a
	// single line. Defaults to "failed expression: " and the expression; therefore
	// it is required if the expression contains line breaks.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,2,opt,name=message"`

	// reason is the machine-readable reason in the response if this is the first
	// validation that fails. It determines the HTTP status code. One of
	// "Forbidden", "Invalid" and "RequestEntityTooLarge". The response has the
	// reason "Invalid" if it is unset.
	// +optional
	Reason *metav1.StatusReason `json:"reason,omitempty" protobuf:"bytes,3,opt,name=reason"`

	// messageExpression is a CEL expression of type string that computes the
	// message. It takes precedence over message. If it returns an error, or a text
	// that is blank or contains line breaks, the server logs the problem and uses
	// message. It may read the variables that expression may read, except
	// 'authorizer'. For example:
	// "at most " + string(params.maxReplicas) + " replicas are allowed"
	// +optional
	MessageExpression string `json:"messageExpression,omitempty" protobuf:"bytes,4,opt,name=messageExpression"`

	// failurePolicy replaces spec.failurePolicy if this expression does not compile
	// or returns an error. spec.failurePolicy still applies to other failures: an
	// exceeded cost budget, and errors in match conditions, params and
	// configuration. Defaults to spec.failurePolicy. Alpha: requires the feature
	// gate ValidatingAdmissionPolicyValidationFailurePolicy.
	// +optional
	FailurePolicy *FailurePolicyType `json:"failurePolicy,omitempty" protobuf:"bytes,1000,opt,name=failurePolicy,casttype=FailurePolicyType"`

	// fieldPath is the field that the cause of a denial names, such as
	// "spec.replicas" or "metadata.labels['example.com/team']". It starts at the
	// object, in the version that expression reads. Items of lists cannot be named.
	// It need not exist in the object, and has no effect on whether the request is
	// denied. At most 1024 bytes. Must not be set together with scope, with which
	// the cause names the path of the value. Alpha: requires the feature gate
	// AdmissionPolicyCauses.
	// +optional
	FieldPath *string `json:"fieldPath,omitempty" protobuf:"bytes,1002,opt,name=fieldPath"`

	// scope names values inside 'object'. The expression is then evaluated once for
	// each of them, and must be true for all. It may read, in addition to the
	// variables above:
	//
	// - 'self': the value.
	//
	// - 'oldSelf': the same value in 'oldObject'. Items of lists of type map are
	// the same if they have the same keys; other lists have no old items. An
	// expression that reads 'oldSelf' is evaluated only for values that have one.
	//
	// - 'path': the path of the value, such as
	// "spec.template.spec.containers[0]".
	//
	// messageExpression may read these, too, and 'oldSelf' is null there for values
	// without an old one. The message is that of the first value for which the
	// expression is false. A request to delete has no values. Alpha: requires the
	// feature gate AdmissionPolicyExpressionScopes.
	// +optional
	Scope *ScopedValues `json:"scope,omitempty" protobuf:"bytes,1001,opt,name=scope"`
}

// ScopedValues selects values inside an object. Exactly one field must be set.
// +structType=atomic
type ScopedValues struct {
	// type is the name of an OpenAPI model, such as
	// "io.k8s.api.core.v1.Container". It selects all values of this type, wherever
	// the schema of the object has them.
	// +optional
	Type string `json:"type,omitempty" protobuf:"bytes,1,opt,name=type"`

	// path is the path of the values, such as "spec.rules[*].host". [*] stands for
	// all items of a list, and for all values of a map. Names with other characters
	// than letters, digits, '_', '-' and '$' are written in brackets and quotes,
	// such as metadata.annotations['example.com/zone']. Values that are not set or
	// null are left out.
	// +optional
	Path string `json:"path,omitempty" protobuf:"bytes,2,opt,name=path"`
}

// Variable is a named expression.
// +structType=atomic
type Variable struct {
	// name is a CEL identifier, unique within the policy. Other expressions read
	// the value as 'variables.<name>'.
	Name string `json:"name" protobuf:"bytes,1,opt,name=Name"`

	// expression computes the value. It may read the variables that validations may
	// read, and the variables that precede it in the list.
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=Expression"`
}

// AuditAnnotation computes one annotation of the audit event of a request.
type AuditAnnotation struct {
	// key is the second part of the name of the annotation, which is "{policy
	// name}/{key}". It must be a qualified name of at most 63 bytes, unique within
	// the policy. If an admission webhook with the same name sets the same
	// annotation, the first value is kept. Required.
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`

	// valueExpression is a CEL expression of at most 5 kB that evaluates to a
	// string or null. If the value is null or empty, the annotation is omitted. A
	// value of more than 10 kB is truncated. If several bindings or params result
	// in different values, the annotation contains all of them, separated by
	// commas. Required.
	ValueExpression string `json:"valueExpression" protobuf:"bytes,2,opt,name=valueExpression"`
}

// ValidatingAdmissionPolicyStatus contains observations of the server about a
// policy.
type ValidatingAdmissionPolicyStatus struct {
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

// ObservedCustomResource identifies the state of a CustomResourceDefinition that a
// status is based on.
type ObservedCustomResource struct {
	// group is the API group of the custom resource.
	Group string `json:"group" protobuf:"bytes,1,opt,name=group"`

	// version is the version of the custom resource whose schema was checked.
	Version string `json:"version" protobuf:"bytes,2,opt,name=version"`

	// kind is the kind of the custom resource.
	Kind string `json:"kind" protobuf:"bytes,3,opt,name=kind"`

	// generation is the metadata.generation of the CustomResourceDefinition, or 0
	// if it did not exist.
	Generation int64 `json:"generation" protobuf:"varint,4,opt,name=generation"`

	// uid is the metadata.uid of the CustomResourceDefinition, or empty if it did
	// not exist. Generations are comparable only for equal UIDs: a
	// CustomResourceDefinition that is deleted and created again starts at
	// generation 1.
	// +optional
	UID types.UID `json:"uid,omitempty" protobuf:"bytes,5,opt,name=uid,casttype=k8s.io/apimachinery/pkg/types.UID"`
}

// TypeChecking is the result of checking the expressions of a policy against the
// schemas of the kinds that they apply to.
type TypeChecking struct {
	// expressionWarnings contains an entry for each expression with a type error.
	// +optional
	// +listType=atomic
	ExpressionWarnings []ExpressionWarning `json:"expressionWarnings,omitempty" protobuf:"bytes,1,rep,name=expressionWarnings"`
}

// ExpressionWarning describes the type errors of one expression.
type ExpressionWarning struct {
	// fieldRef is the path of the field that contains the expression, such as
	// "spec.validations[0].expression".
	FieldRef string `json:"fieldRef" protobuf:"bytes,2,opt,name=fieldRef"`

	// warning is a human-readable text. It contains, for each kind that the
	// expression does not fit, the kind and the message of the compiler.
	Warning string `json:"warning" protobuf:"bytes,3,opt,name=warning"`
}

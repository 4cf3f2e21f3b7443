// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mutation is one change that a policy makes.
type Mutation struct {
	// patchType is how the change is written, and so which of the other fields has
	// the expression: applyConfiguration for ApplyConfiguration and jsonPatch for
	// JSONPatch. Required, unless there is an expression. The patch types
	// JSONMergePatch and StrategicMergePatch are alpha: they need the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +unionDiscriminator
	PatchType PatchType `json:"patchType" protobuf:"bytes,2,opt,name=patchType,casttype=PatchType"`

	// applyConfiguration computes fields that are merged into the object as
	// server-side apply merges them.
	// +optional
	ApplyConfiguration *ApplyConfiguration `json:"applyConfiguration,omitempty" protobuf:"bytes,3,opt,name=applyConfiguration"`

	// jsonPatch computes the operations of a JSON patch (https://jsonpatch.com).
	// +optional
	JSONPatch *JSONPatch `json:"jsonPatch,omitempty" protobuf:"bytes,4,opt,name=jsonPatch"`

	// expression is a CEL expression whose value says what to do: a JSONPatch or a
	// list of them changes the object, null does nothing, true accepts the object
	// as it is, and false refuses the request. It takes the place of patchType and
	// what belongs to that, and reads what jsonPatch.expression reads. Alpha: needs
	// the feature gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Expression *string `json:"expression,omitempty" protobuf:"bytes,1000,opt,name=expression"`

	// condition is a CEL expression of type bool. The mutation is made only where it
	// is true. It reads what variables read, and the variables themselves. Alpha:
	// needs the feature gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Condition *string `json:"condition,omitempty" protobuf:"bytes,1001,opt,name=condition"`

	// message is what the client reads when the mutation refuses the request or
	// cannot be made. A single line. Alpha: needs the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Message *string `json:"message,omitempty" protobuf:"bytes,1002,opt,name=message"`

	// reason is the machine-readable cause in the response when the mutation refuses
	// the request; the HTTP status code follows it. One of "Forbidden", "Invalid" and
	// "RequestEntityTooLarge". Defaults to "Invalid" in the response. Alpha: needs
	// the feature gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Reason *metav1.StatusReason `json:"reason,omitempty" protobuf:"bytes,1003,opt,name=reason"`

	// reinvocationPolicy decides for this mutation, instead of that of the policy,
	// whether it may be made again in the same request. Defaults to
	// spec.reinvocationPolicy. Alpha: needs the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	ReinvocationPolicy *ReinvocationPolicyType `json:"reinvocationPolicy,omitempty" protobuf:"bytes,1004,opt,name=reinvocationPolicy,casttype=ReinvocationPolicyType"`

	// jsonMergePatch computes a JSON merge patch (RFC 7396). Alpha: needs the feature
	// gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	JSONMergePatch *JSONMergePatch `json:"jsonMergePatch,omitempty" protobuf:"bytes,1005,opt,name=jsonMergePatch"`

	// strategicMergePatch computes a patch that merges lists as Kubernetes' built-in
	// types say. Alpha: needs the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	StrategicMergePatch *StrategicMergePatch `json:"strategicMergePatch,omitempty" protobuf:"bytes,1006,opt,name=strategicMergePatch"`
}

// PatchType is a way of writing a change.
// +enum
type PatchType string

const (
	// PatchTypeApplyConfiguration merges fields as server-side apply does.
	PatchTypeApplyConfiguration PatchType = "ApplyConfiguration"
	// PatchTypeJSONPatch performs operations on paths.
	PatchTypeJSONPatch PatchType = "JSONPatch"
	// PatchTypeJSONMergePatch replaces fields, and removes those that are null.
	PatchTypeJSONMergePatch PatchType = "JSONMergePatch"
	// PatchTypeStrategicMergePatch replaces fields, and merges lists by their keys.
	PatchTypeStrategicMergePatch PatchType = "StrategicMergePatch"
)

// The conversion generator would take runtime.ApplyConfiguration for its counterpart.

// ApplyConfiguration computes fields of an object.
// +k8s:conversion-gen=false
type ApplyConfiguration struct {
	// expression is a CEL expression of type Object: what it has is set in the
	// object under review, what it lacks stays. Required. For example:
	//
	//	Object{spec: Object.spec{dnsPolicy: "ClusterFirst"}}
	//
	// Object is the type of the whole object, Object.spec that of its field spec,
	// and so on. Lists and maps are merged as the schema of the object says. Those
	// that are atomic cannot be set, as entries could get lost.
	//
	// It reads what validations read: object, oldObject, request, params,
	// namespaceObject, variables and authorizer.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

// JSONPatch computes the operations of a JSON patch.
type JSONPatch struct {
	// expression is a CEL expression that gives a list of JSONPatch values, which
	// are performed in order. Required. For example:
	//
	//	[JSONPatch{op: "add", path: "/metadata/labels/team", value: "blue"}]
	//
	// A JSONPatch has the fields op, path, from and value; value may be anything,
	// objects such as Object.spec{replicas: 3} included. jsonpatch.escapeKey(key)
	// makes a part of a path from a key with '/' or '~' in it. A failed operation
	// "test" ends the patch without an error, and none of it is done.
	//
	// It reads what validations read: object, oldObject, request, params,
	// namespaceObject, variables and authorizer.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

// JSONMergePatch computes a JSON merge patch.
type JSONMergePatch struct {
	// expression is a CEL expression that gives the patch, an Object or a map. It
	// reads what jsonPatch.expression reads. Required.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

// StrategicMergePatch computes a strategic merge patch.
type StrategicMergePatch struct {
	// expression is a CEL expression that gives the patch, an Object or a map. It
	// reads what jsonPatch.expression reads. Required.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

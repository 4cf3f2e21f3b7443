// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mutation is one change of the object.
type Mutation struct {
	// patchType is the type of the patch. It determines which of the fields
	// applyConfiguration, jsonPatch, jsonMergePatch and strategicMergePatch must be
	// set. Required unless expression is set. The types JSONMergePatch and
	// StrategicMergePatch are alpha and require the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +unionDiscriminator
	PatchType PatchType `json:"patchType" protobuf:"bytes,2,opt,name=patchType,casttype=PatchType"`

	// applyConfiguration computes an apply configuration, which is merged into the
	// object as server-side apply does.
	// +optional
	ApplyConfiguration *ApplyConfiguration `json:"applyConfiguration,omitempty" protobuf:"bytes,3,opt,name=applyConfiguration"`

	// jsonPatch computes a JSON patch (https://jsonpatch.com).
	// +optional
	JSONPatch *JSONPatch `json:"jsonPatch,omitempty" protobuf:"bytes,4,opt,name=jsonPatch"`

	// expression is a CEL expression that returns a patch or a decision. A
	// JSONPatch or a list of them is applied to the object. null and true leave the
	// object unchanged; false rejects the request. Excludes patchType and the
	// fields of patches. It may read the variables that jsonPatch.expression may
	// read. Alpha: requires the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Expression *string `json:"expression,omitempty" protobuf:"bytes,1000,opt,name=expression"`

	// condition is a CEL expression of type bool. The mutation is skipped if it is
	// false. It may read the variables that validations may read, including
	// 'variables'. Alpha: requires the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Condition *string `json:"condition,omitempty" protobuf:"bytes,1001,opt,name=condition"`

	// message is returned to the client if the mutation rejects the request or
	// fails. It must be a single line. Alpha: requires the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Message *string `json:"message,omitempty" protobuf:"bytes,1002,opt,name=message"`

	// reason is the machine-readable reason in the response if the mutation rejects
	// the request. It determines the HTTP status code. One of "Forbidden",
	// "Invalid" and "RequestEntityTooLarge". The response has the reason "Invalid"
	// if it is unset. Alpha: requires the feature gate
	// MutatingAdmissionPolicyInlineExpressions.
	// +optional
	Reason *metav1.StatusReason `json:"reason,omitempty" protobuf:"bytes,1003,opt,name=reason"`

	// reinvocationPolicy defines whether this mutation may be applied again to the
	// same request. Defaults to spec.reinvocationPolicy. Alpha: requires the
	// feature gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	ReinvocationPolicy *ReinvocationPolicyType `json:"reinvocationPolicy,omitempty" protobuf:"bytes,1004,opt,name=reinvocationPolicy,casttype=ReinvocationPolicyType"`

	// jsonMergePatch computes a JSON merge patch (RFC 7396). Alpha: requires the
	// feature gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	JSONMergePatch *JSONMergePatch `json:"jsonMergePatch,omitempty" protobuf:"bytes,1005,opt,name=jsonMergePatch"`

	// strategicMergePatch computes a strategic merge patch, which merges lists by
	// the merge keys of Kubernetes' built-in types. Alpha: requires the feature
	// gate MutatingAdmissionPolicyInlineExpressions.
	// +optional
	StrategicMergePatch *StrategicMergePatch `json:"strategicMergePatch,omitempty" protobuf:"bytes,1006,opt,name=strategicMergePatch"`
}

// PatchType is the type of a patch.
// +enum
type PatchType string

const (
	// PatchTypeApplyConfiguration merges fields as server-side apply does.
	PatchTypeApplyConfiguration PatchType = "ApplyConfiguration"
	// PatchTypeJSONPatch applies operations to paths.
	PatchTypeJSONPatch PatchType = "JSONPatch"
	// PatchTypeJSONMergePatch sets fields, and removes fields whose value is null.
	PatchTypeJSONMergePatch PatchType = "JSONMergePatch"
	// PatchTypeStrategicMergePatch sets fields, and merges lists by their merge
	// keys.
	PatchTypeStrategicMergePatch PatchType = "StrategicMergePatch"
)

// Without the tag, the conversion generator would convert ApplyConfiguration to
// runtime.ApplyConfiguration.

// ApplyConfiguration computes an apply configuration.
// +k8s:conversion-gen=false
type ApplyConfiguration struct {
	// expression is a CEL expression of type Object. Fields that it returns are set
	// in the object; other fields are unchanged. Required. For example:
	//
	// 	Object{spec: Object.spec{dnsPolicy: "ClusterFirst"}}
	//
	// Object is the type of the object, Object.spec the type of its field spec, and
	// so on. Lists and maps are merged as the schema of the object defines. Atomic
	// lists and maps cannot be set, because entries could be lost.
	//
	// The expression may read the variables that validations may read: object,
	// oldObject, request, params, namespaceObject, variables and authorizer.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

// JSONPatch computes the operations of a JSON patch.
type JSONPatch struct {
	// expression is a CEL expression that returns a list of JSONPatch values, which
	// are applied in order. Required. For example:
	//
	// 	[JSONPatch{op: "add", path: "/metadata/labels/team", value: "blue"}]
	//
	// A JSONPatch has the fields op, path, from and value. The value may have any
	// type, including objects such as Object.spec{replicas: 3}.
	// jsonpatch.escapeKey(key) escapes '/' and '~' in a key for use in a path. If
	// an operation "test" fails, the whole patch is skipped without an error.
	//
	// The expression may read the variables that validations may read: object,
	// oldObject, request, params, namespaceObject, variables and authorizer.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

// JSONMergePatch computes a JSON merge patch.
type JSONMergePatch struct {
	// expression is a CEL expression that returns the patch, an Object or a map. It
	// may read the variables that jsonPatch.expression may read. Required.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

// StrategicMergePatch computes a strategic merge patch.
type StrategicMergePatch struct {
	// expression is a CEL expression that returns the patch, an Object or a map. It
	// may read the variables that jsonPatch.expression may read. Required.
	Expression string `json:"expression,omitempty" protobuf:"bytes,1,opt,name=expression"`
}

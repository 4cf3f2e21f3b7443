// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CustomResourceDefinitionStatus is what the API server reports about a definition.
type CustomResourceDefinitionStatus struct {
	// conditions report whether the resource is served, and why not.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []CustomResourceDefinitionCondition `json:"conditions" protobuf:"bytes,1,opt,name=conditions"`

	// acceptedNames are the names that are served. They differ from spec.names while
	// another resource of the group has one of those names.
	// +optional
	AcceptedNames CustomResourceDefinitionNames `json:"acceptedNames" protobuf:"bytes,2,opt,name=acceptedNames"`

	// storedVersions are all versions in which objects may be stored. The API server
	// adds the storage version. Remove a version through the subresource '/status'
	// once every object has been written again in another version. Until then it
	// cannot be removed from spec.versions.
	// +optional
	// +listType=atomic
	StoredVersions []string `json:"storedVersions" protobuf:"bytes,3,rep,name=storedVersions"`

	// observedGeneration is the metadata.generation that the API server last
	// processed. Requires the feature gate CRDObservedGenerationTracking.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,4,opt,name=observedGeneration"`
}

// CustomResourceDefinitionCondition is one condition of a definition.
type CustomResourceDefinitionCondition struct {
	// type is the type of the condition, such as Established, NamesAccepted or
	// Terminating.
	Type CustomResourceDefinitionConditionType `json:"type" protobuf:"bytes,1,opt,name=type,casttype=CustomResourceDefinitionConditionType"`

	// status is True, False or Unknown.
	Status ConditionStatus `json:"status" protobuf:"bytes,2,opt,name=status,casttype=ConditionStatus"`

	// lastTransitionTime is when status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty" protobuf:"bytes,3,opt,name=lastTransitionTime"`

	// reason is why status last changed, as one word in camel case.
	// +optional
	Reason string `json:"reason,omitempty" protobuf:"bytes,4,opt,name=reason"`

	// message explains to users why status last changed.
	// +optional
	Message string `json:"message,omitempty" protobuf:"bytes,5,opt,name=message"`

	// observedGeneration is the metadata.generation that the condition is about. A
	// lower number than the current one shows that the condition is outdated.
	// Requires the feature gate CRDObservedGenerationTracking.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,6,opt,name=observedGeneration"`
}

// ConditionStatus is the status of a condition.
type ConditionStatus string

const (
	// ConditionTrue means that the condition holds.
	ConditionTrue ConditionStatus = "True"
	// ConditionFalse means that the condition does not hold.
	ConditionFalse ConditionStatus = "False"
	// ConditionUnknown means that the API server could not decide.
	ConditionUnknown ConditionStatus = "Unknown"
)

// CustomResourceDefinitionConditionType is the type of a condition.
type CustomResourceDefinitionConditionType string

const (
	// Established means that the resource is served. It becomes true once all names
	// are accepted, and stays true until the definition is deleted.
	Established CustomResourceDefinitionConditionType = "Established"
	// NamesAccepted means that no other resource of the group has one of the names.
	NamesAccepted CustomResourceDefinitionConditionType = "NamesAccepted"
	// NonStructuralSchema means that a schema is not structural: a value has neither a
	// type nor one of x-kubernetes-int-or-string and
	// x-kubernetes-preserve-unknown-fields, or an extension, a default, 'nullable',
	// 'type' or 'additionalProperties' is inside of 'allOf', 'anyOf', 'oneOf' or
	// 'not'. Objects of such a resource are neither pruned nor defaulted, and OpenAPI
	// does not publish the schema.
	NonStructuralSchema CustomResourceDefinitionConditionType = "NonStructuralSchema"
	// Terminating means that the definition is deleted, and that the API server is
	// deleting its custom resources.
	Terminating CustomResourceDefinitionConditionType = "Terminating"
	// KubernetesAPIApprovalPolicyConformant is set on definitions in the groups k8s.io
	// and kubernetes.io and in their subdomains. True means that
	// KubeAPIApprovedAnnotation holds a URL.
	KubernetesAPIApprovalPolicyConformant CustomResourceDefinitionConditionType = "KubernetesAPIApprovalPolicyConformant"
	// StorageMigrating means that objects are being rewritten in the storage version.
	StorageMigrating CustomResourceDefinitionConditionType = "StorageMigrating"
)

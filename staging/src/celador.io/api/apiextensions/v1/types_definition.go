// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// KubeAPIApprovedAnnotation is required on definitions in the groups k8s.io and
	// kubernetes.io and in their subdomains. The value is the URL of the review that
	// approved the spec, or starts with "unapproved".
	KubeAPIApprovedAnnotation = "api-approved.kubernetes.io"

	// CustomResourceCleanupFinalizer keeps a deleted definition until the API server
	// has deleted its custom resources.
	CustomResourceCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io"
)

// +genclient
// +genclient:nonNamespaced
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.16

// CustomResourceDefinition adds a resource to the API server. Its metadata.name must
// be '<spec.names.plural>.<spec.group>'.
type CustomResourceDefinition struct {
	metav1.TypeMeta `json:""`

	// metadata is the object's name, labels and other standard metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// spec defines the names, scope, versions and schemas of the resource.
	Spec CustomResourceDefinitionSpec `json:"spec" protobuf:"bytes,2,opt,name=spec"`

	// status is what the API server reports about the resource. Requests for the
	// definition itself cannot change it.
	// +optional
	Status CustomResourceDefinitionStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +k8s:prerelease-lifecycle-gen:introduced=1.16

// CustomResourceDefinitionList is a list of CustomResourceDefinitions.
type CustomResourceDefinitionList struct {
	metav1.TypeMeta `json:""`

	// metadata contains the resource version and the continue token of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// items are the definitions.
	Items []CustomResourceDefinition `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// CustomResourceDefinitionSpec defines a custom resource.
type CustomResourceDefinitionSpec struct {
	// group is the API group, which is part of the paths '/apis/<group>/...'. The
	// definition's name must end in it. Immutable.
	Group string `json:"group" protobuf:"bytes,1,opt,name=group"`

	// names are the names of the resource and of its kind.
	Names CustomResourceDefinitionNames `json:"names" protobuf:"bytes,3,opt,name=names"`

	// scope is Namespaced if every object belongs to a namespace, and Cluster if none
	// does. Immutable.
	Scope ResourceScope `json:"scope" protobuf:"bytes,4,opt,name=scope,casttype=ResourceScope"`

	// versions are the API versions of the resource, each with its own schema. All
	// objects can be read and written in every version that is served.
	//
	// Discovery lists versions by their names, whatever their order here: first
	// 'v<major>', then 'v<major>beta<minor>', then 'v<major>alpha<minor>', higher
	// numbers first, and at last all other names in alphabetical order. For example:
	// v2, v1, v2beta1, v1beta3, v3alpha1, draft, preview.
	// +listType=atomic
	Versions []CustomResourceDefinitionVersion `json:"versions" protobuf:"bytes,7,rep,name=versions"`

	// conversion defines how objects are converted between versions. Without it only
	// their apiVersion is changed.
	// +optional
	Conversion *CustomResourceConversion `json:"conversion,omitempty" protobuf:"bytes,9,opt,name=conversion"`

	// preserveUnknownFields stores fields that the schemas do not define, instead of
	// removing them. Deprecated: new definitions must not set it to true. Set
	// 'x-kubernetes-preserve-unknown-fields' in a schema instead.
	// +optional
	PreserveUnknownFields bool `json:"preserveUnknownFields,omitempty" protobuf:"varint,10,opt,name=preserveUnknownFields"`
}

// CustomResourceDefinitionNames are the names of a resource and of its kind. The API
// server accepts each name unless another definition in the group has it.
type CustomResourceDefinitionNames struct {
	// plural is the name of the resource in paths:
	// '/apis/<group>/<version>/.../<plural>'. The definition's name must start with
	// it. Lower case.
	Plural string `json:"plural" protobuf:"bytes,1,opt,name=plural"`

	// singular is the name of one object in command-line tools. Lower case. Defaults
	// to kind in lower case.
	// +optional
	Singular string `json:"singular,omitempty" protobuf:"bytes,2,opt,name=singular"`

	// shortNames are abbreviations for command-line tools, such as 'po' for pods.
	// Lower case. Discovery publishes them.
	// +optional
	// +listType=atomic
	ShortNames []string `json:"shortNames,omitempty" protobuf:"bytes,3,opt,name=shortNames"`

	// kind is the value of the field 'kind' in the objects. By convention it is a
	// singular noun in camel case.
	Kind string `json:"kind" protobuf:"bytes,4,opt,name=kind"`

	// listKind is the value of the field 'kind' in lists of the objects. Defaults to
	// kind with the suffix 'List'.
	// +optional
	ListKind string `json:"listKind,omitempty" protobuf:"bytes,5,opt,name=listKind"`

	// categories are groups of resources that the resource belongs to, such as 'all'
	// in 'kubectl get all'. Discovery publishes them.
	// +optional
	// +listType=atomic
	Categories []string `json:"categories,omitempty" protobuf:"bytes,6,rep,name=categories"`
}

// ResourceScope defines whether objects of a resource belong to namespaces.
type ResourceScope string

const (
	// ClusterScoped objects belong to no namespace.
	ClusterScoped ResourceScope = "Cluster"
	// NamespaceScoped objects belong to one namespace each.
	NamespaceScoped ResourceScope = "Namespaced"
)

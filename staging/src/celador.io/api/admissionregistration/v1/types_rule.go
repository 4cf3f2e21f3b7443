// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RuleWithOperations selects operations on resources.
type RuleWithOperations struct {
	// operations are those that the rule applies to: CREATE, UPDATE, DELETE, CONNECT,
	// or "*" for all, also those to come. Required. "*" stands alone.
	// +listType=atomic
	Operations []OperationType `json:"operations,omitempty" protobuf:"bytes,1,rep,name=operations,casttype=OperationType"`

	// Rule is what the operations are performed on.
	Rule `json:",inline" protobuf:"bytes,2,opt,name=rule"`
}

// Rule selects resources. The lists combine: each group with each version and each
// resource.
type Rule struct {
	// apiGroups are the groups of the resources; "" is the core group, "*" stands for
	// all and stands alone. Required.
	// +listType=atomic
	APIGroups []string `json:"apiGroups,omitempty" protobuf:"bytes,1,rep,name=apiGroups"`

	// apiVersions are the versions of the resources; "*" stands for all and stands
	// alone. Required.
	// +listType=atomic
	APIVersions []string `json:"apiVersions,omitempty" protobuf:"bytes,2,rep,name=apiVersions"`

	// resources are the resources by their plural name, subresources after a slash:
	//
	// "pods" is pods. "pods/log" is the log of pods. "*" is all resources, but no
	// subresources. "pods/*" is pods and their subresources, "*/scale" is all scale
	// subresources, "*/*" is everything.
	//
	// Entries may not overlap where a wildcard is involved. Required.
	// +listType=atomic
	Resources []string `json:"resources,omitempty" protobuf:"bytes,3,rep,name=resources"`

	// scope limits the rule to resources that are in a namespace (Namespaced) or in
	// none (Cluster, which includes namespaces themselves). Subresources have the scope
	// of their resource. Defaults to "*", which is both.
	// +optional
	Scope *ScopeType `json:"scope,omitempty" protobuf:"bytes,4,rep,name=scope"`
}

// OperationType is an operation that admission decides over.
// +enum
type OperationType string

const (
	// Connect is a connection to an object, such as exec or proxy.
	Connect OperationType = "CONNECT"
	// Create is the creation of an object.
	Create OperationType = "CREATE"
	// Delete is the deletion of an object.
	Delete OperationType = "DELETE"
	// Update is a change of an object.
	Update OperationType = "UPDATE"
	// OperationAll is every operation.
	OperationAll OperationType = "*"
)

// ScopeType is a scope of resources.
// +enum
type ScopeType string

const (
	// AllScopes is all resources.
	AllScopes ScopeType = "*"
	// NamespacedScope is resources inside of namespaces.
	NamespacedScope ScopeType = "Namespaced"
	// ClusterScope is resources outside of namespaces, and namespaces themselves.
	ClusterScope ScopeType = "Cluster"
)

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RuleWithOperations selects operations on resources.
type RuleWithOperations struct {
	// operations are the operations that the rule matches: CREATE, UPDATE, DELETE,
	// CONNECT, or "*" for all current and future operations. "*" must be the only
	// entry. Required.
	// +listType=atomic
	Operations []OperationType `json:"operations,omitempty" protobuf:"bytes,1,rep,name=operations,casttype=OperationType"`

	// Rule selects the resources.
	Rule `json:",inline" protobuf:"bytes,2,opt,name=rule"`
}

// Rule selects resources: the combinations of all listed groups, versions and
// resources.
type Rule struct {
	// apiGroups are the groups of the resources. "" is the core group, and "*"
	// matches all groups. "*" must be the only entry. Required.
	// +listType=atomic
	APIGroups []string `json:"apiGroups,omitempty" protobuf:"bytes,1,rep,name=apiGroups"`

	// apiVersions are the versions of the resources. "*" matches all versions and
	// must be the only entry. Required.
	// +listType=atomic
	APIVersions []string `json:"apiVersions,omitempty" protobuf:"bytes,2,rep,name=apiVersions"`

	// resources are the plural names of resources, with subresources after a slash:
	//
	// "pods" matches pods. "pods/log" matches the log of pods. "*" matches all
	// resources, but no subresources. "pods/*" matches pods and their subresources.
	// "*/scale" matches all scale subresources. "*/*" matches all resources and
	// subresources.
	//
	// Entries with wildcards must not overlap with others. Required.
	// +listType=atomic
	Resources []string `json:"resources,omitempty" protobuf:"bytes,3,rep,name=resources"`

	// scope restricts the rule to resources in namespaces (Namespaced) or to
	// cluster-scoped resources (Cluster), which include namespaces themselves.
	// Subresources have the scope of their resource. Defaults to "*", which matches
	// both.
	// +optional
	Scope *ScopeType `json:"scope,omitempty" protobuf:"bytes,4,rep,name=scope"`
}

// OperationType is an operation on a resource.
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
	// OperationAll matches all operations.
	OperationAll OperationType = "*"
)

// ScopeType is a scope of resources.
// +enum
type ScopeType string

const (
	// AllScopes matches all resources.
	AllScopes ScopeType = "*"
	// NamespacedScope matches resources in namespaces.
	NamespacedScope ScopeType = "Namespaced"
	// ClusterScope matches cluster-scoped resources, including namespaces.
	ClusterScope ScopeType = "Cluster"
)

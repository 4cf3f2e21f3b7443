// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Lookup declares objects that a policy reads in addition to those of the request.
// +structType=atomic
type Lookup struct {
	// name is a CEL identifier, unique within the policy. Expressions read the
	// objects as 'lookups.<name>'. Required.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`

	// apiVersion is the group and version of the objects, such as
	// "networking.k8s.io/v1", or only the version for the core group. Required.
	APIVersion string `json:"apiVersion" protobuf:"bytes,2,opt,name=apiVersion"`

	// kind is the name of the kind of the objects, such as "Ingress". If the server
	// does not serve the kind, expressions that read the lookup return an error.
	// Required.
	Kind string `json:"kind" protobuf:"bytes,3,opt,name=kind"`

	// scope is Namespace for the objects in the namespace of the request, or
	// Cluster for those of all namespaces. It must not be Namespace for a
	// cluster-scoped kind. Defaults to Namespace for namespaced kinds, and to
	// Cluster for others.
	// +optional
	Scope *LookupScope `json:"scope,omitempty" protobuf:"bytes,4,opt,name=scope,casttype=LookupScope"`

	// index is a CEL expression that computes the keys by which
	// 'lookups.<name>.indexed(key)' finds an object: a string or a list of strings,
	// of at most 1000 strings of at most 1024 bytes each and 64 KiB together. It
	// reads the object as 'item', and nothing else. An object for which it returns an
	// error, other keys or null, or costs more than 100,000 CEL cost units, is not
	// found by any key. For example: item.spec.rules.map(r, r.?host.orValue(''))
	// +optional
	Index *string `json:"index,omitempty" protobuf:"bytes,5,opt,name=index"`

	// consistency is Cached for the objects that the server has cached, or Latest for
	// objects that are at least as new as those stored when the request reads the
	// first of them. For Latest, the server waits until its cache is so new. If that
	// takes more than 3 seconds, or if the server cannot tell how new its objects of
	// the kind are, expressions that read the lookup return an error. Defaults to
	// Cached.
	// +optional
	Consistency *LookupConsistency `json:"consistency,omitempty" protobuf:"bytes,6,opt,name=consistency,casttype=LookupConsistency"`
}

// LookupConsistency defines how recent the objects are that a lookup finds.
// +enum
type LookupConsistency string

const (
	// CachedLookupConsistency finds the objects that the server has cached.
	CachedLookupConsistency LookupConsistency = "Cached"
	// LatestLookupConsistency finds objects that are at least as new as those stored
	// when the request reads the first of them.
	LatestLookupConsistency LookupConsistency = "Latest"
)

// LookupScope defines the namespaces whose objects a lookup finds.
// +enum
type LookupScope string

const (
	// ClusterLookupScope finds the objects of all namespaces, or of a cluster-scoped
	// kind.
	ClusterLookupScope LookupScope = "Cluster"
	// NamespaceLookupScope finds the objects in the namespace of the request.
	NamespaceLookupScope LookupScope = "Namespace"
)

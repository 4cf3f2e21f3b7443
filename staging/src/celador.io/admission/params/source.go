// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package params

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Source gives access to objects by kind. Safe for concurrent use.
type Source interface {
	// Open starts to follow the objects of a kind, if nothing does yet, and returns at
	// once, whether or not there is such a kind. The caller closes what it opened.
	Open(kind schema.GroupVersionKind) Kind
}

// Kind is one opened kind. Its methods are safe for concurrent use.
type Kind interface {
	// Lister returns access to the objects as the kind is served now. It returns an
	// error when the kind is not served, and may wait a moment to find out.
	Lister(ctx context.Context) (Lister, error)
	// Close tells that the caller no longer needs the kind. Listers still work
	// afterwards, but see no changes.
	Close()
}

// Lister reads objects of one kind. Objects are shared and must not be changed. Safe
// for concurrent use.
type Lister interface {
	// Namespaced says whether objects of the kind are in namespaces.
	Namespaced() bool
	// Synced returns a channel that is closed once all objects are known.
	Synced() <-chan struct{}
	// Get returns an object, even one that was created a moment ago. The namespace is
	// empty for cluster-scoped kinds. The error is a NotFound API error when there is
	// no such object.
	Get(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error)
	// List returns the objects with matching labels in a namespace, or of a
	// cluster-scoped kind, sorted by name.
	List(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package params finds the params of a policy: the objects of its paramKind that the paramRef of a
// binding selects (KEP-3488, "Policy Configuration").
package params

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Source reads objects of any kind. Implementations are safe for concurrent use.
type Source interface {
	// Open starts to watch the objects of a kind, unless they are watched already, and returns
	// without waiting. The kind need not be served. The caller must close the handle.
	Open(kind schema.GroupVersionKind) Handle
}

// A Handle keeps the objects of one kind watched until it is closed. Implementations are safe for
// concurrent use.
type Handle interface {
	// Lister returns a lister for the resource that serves the kind now. It returns an error if no
	// resource does, and may wait briefly for discovery.
	Lister(ctx context.Context) (Lister, error)
	// Close releases the kind. Listers that Lister returned remain usable, but may no longer see
	// changes.
	Close()
}

// A Lister reads objects of one kind. The objects are shared and must not be changed.
// Implementations are safe for concurrent use.
type Lister interface {
	// Namespaced reports whether the kind is namespaced.
	Namespaced() bool
	// Synced returns a channel that is closed once the informer has synced.
	Synced() <-chan struct{}
	// Get returns an object, including an object that was created a moment ago and that the
	// informer does not know yet. namespace is empty for cluster-scoped kinds. If there is no such
	// object, the error satisfies apierrors.IsNotFound.
	Get(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error)
	// List returns the objects whose labels match, sorted by name. namespace is empty for
	// cluster-scoped kinds. The slice is shared like its objects. The selector must not be
	// labels.Nothing(): implementations cache lists by the text of the selector, and
	// labels.Nothing() has the text of labels.Everything().
	List(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error)
}

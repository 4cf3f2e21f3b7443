// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lookups holds the objects that policies read in addition to those of a request, as
// spec.lookups declares. A host of an engine implements Source, and keeps the objects of each kind
// that policies look up in an ObjectCache.
package lookups

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Source reads objects of any kind. Implementations are safe for concurrent use.
type Source interface {
	// Open starts to follow the objects of a kind, and to maintain an index of them, unless both
	// are open already, and returns without waiting. index is nil if none is needed. The kind need
	// not be served. The caller must close the handle.
	Open(kind schema.GroupVersionKind, index Indexer) Handle
}

// A Handle keeps the objects of a kind, and an index of them, until it is closed. Implementations
// are safe for concurrent use.
type Handle interface {
	// State returns the present objects. If they are not known yet, it may wait for them briefly,
	// but not after ctx has ended. It returns an error if they are still not known then, or if no
	// resource serves the kind.
	State(ctx context.Context) (*State, error)
	// Close releases the kind and the index. States remain usable. Further calls have no effect.
	Close()
}

// A LatestHandle is a Handle whose State can return objects that are older than the stored ones. The
// states of other handles are always the latest.
type LatestHandle interface {
	Handle
	// Latest returns objects that are at least as new as those that were stored when Latest was
	// first called with the revisions. It returns an error if it cannot find out whether the
	// objects are so new, or not soon enough.
	Latest(ctx context.Context, revisions Revisions) (*State, error)
}

// Revisions holds, by the name of the etcd cluster, the revision that the objects which Latest
// returns must have reached. All lookups of a request use the same Revisions, so that the revision
// of each cluster is read once. Not safe for concurrent use.
type Revisions map[string]revision

// A revision is what the first read of a revision has returned.
type revision struct {
	number uint64
	err    error
}

// Of returns the revision of an etcd cluster at which a request reads. The first call for the
// cluster gets the revision from read. Later calls return the same revision or error.
func (r Revisions) Of(cluster string, read func() (uint64, error)) (uint64, error) {
	known, ok := r[cluster]
	if !ok {
		known.number, known.err = read()
		r[cluster] = known
	}
	return known.number, known.err
}

// An Indexer computes the keys of objects in one index: the function indexed() finds an object by
// its keys. Implementations are safe for concurrent use.
type Indexer interface {
	// Text identifies the index: indexes with equal texts return equal keys.
	Text() string
	// Keys returns the keys of an object, or an error if it cannot compute them. It must neither
	// change nor keep the object.
	Keys(object runtime.Object) ([]string, error)
}

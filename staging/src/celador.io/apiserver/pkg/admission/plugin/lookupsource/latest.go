// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookupsource

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"

	"celador.io/admission/lookups"
)

// A RevisionedStorage lists and watches the objects of a kind in a storage with a watch cache, and
// tells how recent they are. Implementations are safe for concurrent use.
type RevisionedStorage interface {
	cache.ListerWatcher
	// Cluster names the etcd cluster. Storages in the same cluster have the same revisions.
	Cluster() string
	// Revision returns the present revision of the etcd cluster.
	Revision(ctx context.Context) (uint64, error)
	// LastChange waits until the watch cache has all changes up to a revision, and returns the
	// resource version of the last change of an object of the kind that the watch cache received,
	// by a watch or in a list.
	LastChange(ctx context.Context, revision uint64) (uint64, error)
	// Continues returns an error unless the watch cache has all changes since a resource version.
	Continues(ctx context.Context, version uint64) error
}

var _ lookups.LatestHandle = &opened{}

// Latest implements lookups.LatestHandle. It waits for up to 3 seconds.
func (o *opened) Latest(ctx context.Context, revisions lookups.Revisions) (*lookups.State, error) {
	ctx, cancel := context.WithTimeout(ctx, latestTimeout)
	defer cancel()
	if _, err := o.State(ctx); err != nil {
		return nil, err
	}
	followed, changed, err := o.kind.follows()
	if err != nil {
		return nil, err
	}
	var of *store
	var last uint64
	for {
		if followed != of {
			// last is read once for a store, or frequent changes would keep the request waiting.
			switch last, err = followed.lastChange(ctx, revisions); {
			case err == nil:
				of = followed
			case !followed.isOutdated():
				return nil, err
			}
		}
		// The store has all changes up to version, so it has the latest objects if version is not
		// older than the last change. The exception is a watch cache that has listed the objects
		// again after version: last may lack changes before that list. Continues returns an error
		// then.
		if version := followed.version.Load(); err == nil && version > 0 && version >= last {
			if err = followed.storage.Continues(ctx, version); err == nil {
				return followed.objects.State(), nil
			}
		} else if err == nil {
			err = fmt.Errorf("version %d is known, and %d is stored", version, last)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the latest objects: %w", err)
		}
		if followed, changed, err = o.kind.follows(); err != nil {
			return nil, err
		}
	}
}

// isOutdated reports whether the storage of s is closed soon, because another store takes the place
// of s.
func (s *store) isOutdated() bool {
	select {
	case <-s.outdated:
		return true
	default:
		return false
	}
}

// lastChange waits until the storage has all changes up to the revision of a request, and returns
// the resource version of the last change of an object of the kind. It reads the revision from etcd
// if no lookup of the request has read it yet.
func (s *store) lastChange(ctx context.Context, revisions lookups.Revisions) (uint64, error) {
	revision, err := revisions.Of(s.storage.Cluster(), func() (uint64, error) { return s.storage.Revision(ctx) })
	if err != nil {
		return 0, fmt.Errorf("reading the present revision: %w", err)
	}
	last, err := s.storage.LastChange(ctx, revision)
	if err != nil {
		return 0, fmt.Errorf("waiting for revision %d in the watch cache: %w", revision, err)
	}
	return last, nil
}

// follows returns the store of the objects that k follows, and a channel that is closed when k
// follows another store, or a later version of the objects, after the call. It returns an error if
// no objects are followed, or if they are not read from a RevisionedStorage.
func (k *kind) follows() (*store, <-chan struct{}, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	switch {
	case k.followed == nil:
		return nil, nil, k.err
	case k.followed.storage == nil:
		return nil, nil, errors.New("this server reads the kind by requests: remove consistency Latest")
	default:
		return k.followed, k.changed, nil
	}
}

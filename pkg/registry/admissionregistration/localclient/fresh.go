// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localclient

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage/cacher"
)

// Fresh returns nil if an informer of a resource has seen everything that etcd stored before the
// call, apart from the time that it takes to pass an event from the watch cache to a watch. seen is
// the LastSyncResourceVersion of the informer, which reads from a client of New. Fresh returns an
// error if the watch cache has not caught up with etcd before ctx ends or within 3 seconds, if the
// informer lags behind the watch cache or does not watch the resource, or if the resource has no
// watch cache. It returns nil for a resource that the server does not serve.
//
// Fresh asks etcd, by a quorum read, for its current revision, and then the watch cache for a list
// that is not older. The watch cache requests progress notifications for its own watch of etcd
// until it has this revision, so a member of etcd that answers reads does not hide that the watch
// of another member is stuck. Then seen must not be older than what an open watch of the resource
// has delivered. The watch may be that of another informer: all get the same events.
func (s *RegistryStores) Fresh(ctx context.Context, resource, seen string) error {
	found, served := s.byResource.Load(resource)
	if !served {
		return nil
	}
	store := found.(*registry.Store)
	if _, cached := store.Storage.Storage.(*cacher.CacheDelegator); !cached {
		return fmt.Errorf("%s has no watch cache", resource)
	}
	revision, err := store.Storage.Storage.GetCurrentResourceVersion(ctx)
	if err != nil {
		return fmt.Errorf("reading the current revision of etcd: %w", err)
	}
	// Only the version of the list matters, so a selector that matches nothing keeps the list
	// empty. With the selector, an unready watch cache does not pass the list on to etcd.
	_, err = store.List(ctx, &metainternalversion.ListOptions{
		LabelSelector:        labels.Nothing(),
		ResourceVersion:      strconv.FormatUint(revision, 10),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		return fmt.Errorf("waiting for revision %d in the watch cache of %s: %w", revision, resource, err)
	}
	if version, err := strconv.ParseUint(seen, 10, 64); err != nil || !s.watches(resource).cover(version) {
		return fmt.Errorf("an informer of %s that has seen version %q lags behind, or does not watch it", resource, seen)
	}
	return nil
}

// watches holds the open watches of a resource. The zero value is empty. Safe for concurrent use.
type watches struct{ open sync.Map }

func (s *RegistryStores) watches(resource string) *watches {
	found, _ := s.watched.LoadOrStore(resource, &watches{})
	return found.(*watches)
}

// cover reports whether an open watch proves that an informer has missed no event up to now, given
// the version up to which the informer has seen the resource: the watch began at this version or
// earlier, and has delivered nothing newer.
func (w *watches) cover(version uint64) bool {
	covered := false
	w.open.Range(func(key, _ any) bool {
		open := key.(*openWatch)
		covered = open.from <= version && open.delivered.Load() <= version
		return !covered
	})
	return covered
}

// begin adds a watch that begins after a version. The caller calls end when the watch ends.
func (w *watches) begin(from string) *openWatch {
	open := &openWatch{from: math.MaxUint64} // covers nothing if it begins with the present objects
	if version, err := strconv.ParseUint(from, 10, 64); err == nil && version > 0 {
		open.from = version
	}
	w.open.Store(open, nil)
	return open
}

// end removes a watch.
func (w *watches) end(open *openWatch) { w.open.Delete(open) }

// An openWatch is a watch that has not ended.
type openWatch struct {
	from uint64
	// delivered is the version of the last object that the watch delivered. While an event waits to
	// be read, delivered is the greatest number, so that cover does not rely on this watch.
	delivered atomic.Uint64
}

// deliver passes an event to the reader of the watch by calling send, and then sets delivered to
// the version of its object. send waits until the event is read; it returns false if the watch ends
// before.
func (w *openWatch) deliver(event watch.Event, send func() bool) bool {
	previous := w.delivered.Swap(math.MaxUint64)
	if !send() {
		return false
	}
	// A bookmark does not count: its version is newer than that of the last object, and other
	// watches of the resource may get no bookmark with this version.
	if event.Type == watch.Bookmark {
		w.delivered.Store(previous)
		return true
	}
	if object, err := meta.Accessor(event.Object); err == nil {
		if version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64); err == nil {
			w.delivered.Store(version)
		}
	}
	return true
}

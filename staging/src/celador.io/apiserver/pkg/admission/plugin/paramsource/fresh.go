// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// AwaitFresh returns nil if the params are not older than the limit of the source, or if there is
// no limit. Otherwise it waits until they are not, but only for a short time: then it returns a
// ServiceUnavailable error.
func (k *kind) AwaitFresh(ctx context.Context) error {
	if k.fresh == nil {
		return nil
	}
	return k.fresh.Await(ctx)
}

// Stale reports whether the params of any kind that has a handle may be older than the limit of the
// source. It takes no lock.
func (s *Source) Stale() bool {
	opened := s.limited.Load()
	if opened == nil {
		return false
	}
	for _, k := range *opened {
		if k.fresh.IsStale() {
			return true
		}
	}
	return false
}

// Ages calls observe for each kind that has a handle with the age of its params: the time since
// they were last known to be equal to the stored ones. If the age of params is not limited, Ages
// does nothing.
func (s *Source) Ages(observe func(schema.GroupVersionKind, time.Duration)) {
	if opened := s.limited.Load(); opened != nil {
		for _, k := range *opened {
			observe(k.gvk, k.fresh.Age())
		}
	}
}

// checkFresh returns nil if the informer has seen everything that was stored before the call. It
// also returns nil while the server does not serve the kind, or the informer has not listed its
// objects, because requests that need such params fail anyway.
func (k *kind) checkFresh(ctx context.Context) error {
	s := k.current.Load()
	if s == nil || s.err != nil {
		return nil
	}
	select {
	case <-s.lister.Synced():
		return s.watched.checkFresh(ctx)
	default:
		return nil
	}
}

// watched finds out whether an informer has seen everything that is stored, and whether the server
// forbids it to list and watch. Safe for concurrent use.
type watched struct {
	resource Resource
	client   dynamic.Interface
	// open identifies the watch by the address that it holds. It is nil while there is no watch.
	open atomic.Pointer[byte]
	// forbidden holds the error of the last list or watch, of this informer or of one that it
	// replaces, if the server forbade it, and is nil otherwise.
	forbidden atomic.Pointer[error]
	// refused is set once the server has forbidden a list or watch of this informer, which then
	// tries again after a delay that grows.
	refused atomic.Bool
}

// failed records the error of a list or watch that has failed. It reports whether the list or watch
// before that one was forbidden.
func (w *watched) failed(err error) (wasForbidden bool) {
	if apierrors.IsForbidden(err) {
		w.refused.Store(true)
		return w.forbidden.Swap(&err) != nil
	}
	return w.forbidden.Swap(nil) != nil
}

// opened returns a watch that counts as open until the informer stops it. An informer stops each
// watch that it has opened, even after it has ended.
func (w *watched) opened(events watch.Interface) watch.Interface {
	id := new(byte)
	w.open.Store(id)
	w.forbidden.Store(nil)
	return &openWatch{events, func() { w.open.CompareAndSwap(id, nil) }}
}

type openWatch struct {
	watch.Interface
	closed func()
}

// Stop implements watch.Interface.
func (w *openWatch) Stop() {
	w.closed()
	w.Interface.Stop()
}

// noObject is a field selector that usually selects nothing. The response of a list with it
// contains the current revision, for which the server reads a single key.
const noObject = "metadata.name=freshness"

// checkFresh returns nil if the watch has delivered everything that was stored before the call. It
// does not wait for an event to pass from the server's watch cache to the informer.
//
// A list of the most recent version returns the current revision of etcd, but the server may have
// read it from etcd because its watch cache lags behind. So a second list follows, which must not
// be older than this revision, and for which the server waits for its watch cache.
func (w *watched) checkFresh(ctx context.Context) error {
	before := w.open.Load()
	if before == nil {
		return errors.New("the params are not watched")
	}
	objects := w.client.Resource(w.resource.GroupVersionResource)
	list := objects.List
	if w.resource.Namespaced {
		list = objects.Namespace(metav1.NamespaceDefault).List
	}
	current, err := list(ctx, metav1.ListOptions{FieldSelector: noObject})
	if err != nil {
		return fmt.Errorf("reading the current revision: %w", err)
	}
	version := current.GetResourceVersion()
	if _, err := list(ctx, metav1.ListOptions{FieldSelector: noObject, ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}); err != nil {
		return fmt.Errorf("waiting for revision %s in the watch cache: %w", version, err)
	}
	if w.open.Load() != before {
		return errors.New("the watch of the params ended")
	}
	return nil
}

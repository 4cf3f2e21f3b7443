// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
)

// lookupSource finds the objects of a cluster that policies look up, and the old object of a
// request, which a server has stored before the request.
type lookupSource struct {
	cluster *Cluster
	lock    sync.Mutex
	kinds   map[schema.GroupVersionKind]*lookupKind
}

func newLookupSource(c *Cluster) *lookupSource {
	return &lookupSource{cluster: c, kinds: map[schema.GroupVersionKind]*lookupKind{}}
}

// Open implements lookups.Source.
func (s *lookupSource) Open(kind schema.GroupVersionKind, index lookups.Indexer) lookups.Handle {
	s.lock.Lock()
	defer s.lock.Unlock()
	k, ok := s.kinds[kind]
	if !ok {
		k = &lookupKind{cluster: s.cluster, resource: sync.OnceValues(func() (*resource, error) { return s.cluster.resourceOf(kind) })}
		s.kinds[kind] = k
	}
	k.open(index)
	return k
}

// lookupKind implements lookups.Handle. All lookups of a kind share one lookupKind, so that each
// state of the objects that it returns has the indexes that any of these lookups needs.
type lookupKind struct {
	cluster *Cluster
	// resource returns the resource that serves the kind.
	resource func() (*resource, error)

	lock    sync.Mutex
	indexes []lookups.Indexer
	// shared returns the state for requests without an old object of the kind.
	shared func() (*lookups.State, error)
}

// open adds an index, which may be nil.
func (k *lookupKind) open(index lookups.Indexer) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if index != nil {
		k.indexes = append(k.indexes, index)
	}
	indexes := k.indexes
	k.shared = sync.OnceValues(func() (*lookups.State, error) { return k.read(k.cluster.objects, indexes) })
}

// State implements lookups.Handle.
func (k *lookupKind) State(ctx context.Context) (*lookups.State, error) {
	r, err := k.resource()
	if err != nil {
		return nil, err
	}
	k.lock.Lock()
	indexes, shared := k.indexes, k.shared
	k.lock.Unlock()
	if l := layerFrom(ctx); l.below != nil && l.holds(r.all()) {
		return k.read(l, indexes)
	}
	return shared()
}

// Close implements lookups.Handle.
func (*lookupKind) Close() {}

// read returns the objects of the kind in a layer.
func (k *lookupKind) read(l *layer, indexes []lookups.Indexer) (*lookups.State, error) {
	r, err := k.resource()
	if err != nil {
		return nil, err
	}
	var found []runtime.Object
	for _, stored := range l.list(r.all()) {
		object, err := r.read(stored)
		if err != nil {
			return nil, err
		}
		found = append(found, object)
	}
	objects := lookups.NewObjectCache(r.namespaced, klog.Background())
	for _, index := range indexes {
		objects.AddIndex(index)
	}
	if err := objects.Replace(found); err != nil {
		return nil, err
	}
	return objects.State(), nil
}

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
type lookupSource struct{ cluster *Cluster }

// Open implements lookups.Source.
func (s lookupSource) Open(kind schema.GroupVersionKind, index lookups.Index) lookups.Handle {
	k := &lookupKind{cluster: s.cluster, kind: kind, index: index}
	k.shared = sync.OnceValues(func() (*lookups.State, error) { return k.read(s.cluster.objects) })
	return k
}

// lookupKind implements lookups.Handle.
type lookupKind struct {
	cluster *Cluster
	kind    schema.GroupVersionKind
	index   lookups.Index
	// shared returns the state for requests without an old object of the kind.
	shared func() (*lookups.State, error)
}

// State implements lookups.Handle.
func (k *lookupKind) State(ctx context.Context) (*lookups.State, error) {
	r, err := k.cluster.resourceOf(k.kind)
	if err != nil {
		return nil, err
	}
	if l := layerFrom(ctx); l.below != nil && l.holds(r.all()) {
		return k.read(l)
	}
	return k.shared()
}

// Close implements lookups.Handle.
func (*lookupKind) Close() {}

// read returns the objects of the kind in a layer.
func (k *lookupKind) read(l *layer) (*lookups.State, error) {
	r, err := k.cluster.resourceOf(k.kind)
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
	objects := lookups.NewObjects(r.namespaced, klog.Background())
	if k.index != nil {
		objects.AddIndex(k.index)
	}
	if err := objects.Replace(found); err != nil {
		return nil, err
	}
	return objects.State(), nil
}

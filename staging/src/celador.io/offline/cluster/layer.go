// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// A layer holds objects of a cluster by their storage keys, and shows those of the layer below it,
// too. Writes change only the top layer: New fills the layer of the cluster, and each request
// writes into a layer of its own, which is dropped afterwards. A layer is safe for concurrent use.
// Its objects must not be changed.
type layer struct {
	// cluster is the cluster whose objects the layer holds.
	cluster *Cluster
	below   *layer
	lock    sync.RWMutex
	// objects has a nil entry for a deleted object of a layer below.
	objects map[string]runtime.Object
}

// newLayer returns an empty layer above another one.
func newLayer(below *layer) *layer {
	return &layer{cluster: below.cluster, below: below, objects: map[string]runtime.Object{}}
}

// get returns the object with the key, or nil if there is none.
func (l *layer) get(key string) runtime.Object {
	for ; l != nil; l = l.below {
		l.lock.RLock()
		object, ok := l.objects[key]
		l.lock.RUnlock()
		if ok {
			return object
		}
	}
	return nil
}

// put stores an object, or deletes it if object is nil.
func (l *layer) put(key string, object runtime.Object) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.objects[key] = object
}

// holds reports whether the layer itself, and not only one below it, has a key with the prefix.
func (l *layer) holds(prefix string) bool {
	l.lock.RLock()
	defer l.lock.RUnlock()
	for key := range l.objects {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// list returns the objects whose keys begin with the prefix, sorted by key.
func (l *layer) list(prefix string) []runtime.Object {
	found := map[string]runtime.Object{}
	for ; l != nil; l = l.below {
		l.lock.RLock()
		for key, object := range l.objects {
			if _, above := found[key]; !above && strings.HasPrefix(key, prefix) {
				found[key] = object
			}
		}
		l.lock.RUnlock()
	}
	var objects []runtime.Object
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if found[key] != nil {
			objects = append(objects, found[key])
		}
	}
	return objects
}

type layerKey struct{}

// withLayer returns a context for requests that read and write the layer.
func withLayer(ctx context.Context, l *layer) context.Context {
	return context.WithValue(ctx, layerKey{}, l)
}

// layerFrom returns the layer of the context, or an empty one without a cluster.
func layerFrom(ctx context.Context) *layer {
	if l, ok := ctx.Value(layerKey{}).(*layer); ok {
		return l
	}
	return &layer{objects: map[string]runtime.Object{}}
}

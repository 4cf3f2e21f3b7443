// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storedobjects lists and watches the built-in objects in the storage of the same process.
// It sends no requests, and what it returns shares memory with the watch caches.
package storedobjects

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// Storages holds the storages with watch caches that a server has opened. Safe for concurrent use.
type Storages struct {
	// scheme has the types of the storages and the versions in which they are read.
	scheme *runtime.Scheme
	// byKind maps a schema.GroupKind to its *stored.
	byKind sync.Map
}

// New returns Storages that hold none. Only objects of the types of scheme are read.
func New(scheme *runtime.Scheme) *Storages { return &Storages{scheme: scheme} }

// Collect returns a getter of the same options, with which the storages that a server opens are
// added.
func (s *Storages) Collect(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return collector{getter, s}
}

type collector struct {
	generic.RESTOptionsGetter
	storages *Storages
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (c collector) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := c.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	decorate := options.Decorator
	options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error), newFunc, newListFunc func() runtime.Object,
		getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		opened, destroy, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, getAttrs, trigger, indexers)
		if err == nil {
			c.storages.add(&stored{opened, prefix, keyFunc, newFunc, newListFunc})
		}
		return opened, destroy, err
	}
	return options, nil
}

// add adds a storage, unless it has no watch cache, the scheme does not have its type, or there is
// one for the kind.
func (s *Storages) add(opened *stored) {
	if _, cached := opened.storage.(*cacher.CacheDelegator); !cached {
		return
	}
	kinds, _, err := s.scheme.ObjectKinds(opened.newFunc())
	if err != nil {
		return
	}
	for _, kind := range kinds {
		s.byKind.LoadOrStore(kind.GroupKind(), opened)
	}
}

// ListerWatcher returns what lists and watches the objects of a kind, or nil if no storage holds
// them. The objects may share memory with the watch cache, so they must not be changed.
func (s *Storages) ListerWatcher(kind schema.GroupVersionKind) cache.ListerWatcher {
	found, ok := s.byKind.Load(kind.GroupKind())
	if !ok || !s.scheme.Recognizes(kind) {
		return nil
	}
	return listerWatcher{found.(*stored), s.scheme, kind}
}

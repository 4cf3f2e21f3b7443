// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storedobjects lists and watches the built-in objects in the storage of the same process.
// It sends no requests, and what it returns shares memory with the watch caches.
package storedobjects

import (
	"strings"
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

// Collect returns a getter of the same options, except that s holds the storages that a server
// opens with them.
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
		s := &stored{cluster: strings.Join(config.Transport.ServerList, ","), prefix: prefix, keyFunc: keyFunc, newFunc: newFunc, newListFunc: newListFunc}
		opened, destroy, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, s.observe(getAttrs), trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		s.storage = opened
		remove := c.storages.add(s)
		return opened, func() {
			remove()
			destroy()
		}, nil
	}
	return options, nil
}

// add adds a storage, unless it has no watch cache or the scheme does not have its type. It replaces
// the one that was opened before for the kind: a server opens some twice, and destroys the first. The
// caller calls remove when the storage is destroyed.
func (s *Storages) add(opened *stored) (remove func()) {
	var kinds []schema.GroupVersionKind
	if _, cached := opened.storage.(*cacher.CacheDelegator); cached {
		kinds, _, _ = s.scheme.ObjectKinds(opened.newFunc()) // none for a type that the scheme lacks
	}
	for _, kind := range kinds {
		s.byKind.Store(kind.GroupKind(), opened)
	}
	return func() {
		for _, kind := range kinds {
			s.byKind.CompareAndDelete(kind.GroupKind(), opened)
		}
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

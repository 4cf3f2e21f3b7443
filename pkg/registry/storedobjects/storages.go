// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storedobjects reads the objects that policies look up from the watch caches of the server
// in the same process. It sends no requests, and the objects may share memory with the watch
// caches, so they must not be changed.
package storedobjects

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

// Storages holds the storages with watch caches that a server has opened. Safe for concurrent use.
type Storages struct {
	// scheme has the types of the storages and the versions in which they are read.
	scheme *runtime.Scheme
	// byKind maps a schema.GroupKind of scheme to the *stored of its storage. byStorage maps each
	// storage.Interface, also those of custom resources, to its *stored.
	byKind, byStorage sync.Map
	customResources   StorageOpener
}

// New returns Storages without any storage: Collect adds those that a server opens. Find then finds
// the objects of the types of scheme and, after ReadCustomResources, custom resources.
func New(scheme *runtime.Scheme) *Storages { return &Storages{scheme: scheme} }

// Collect returns a getter of the options of getter. In addition, s records each storage that a
// server opens with these options, until the storage is destroyed.
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
		s := &stored{cluster: strings.Join(config.Transport.ServerList, ","), prefix: prefix, keyFunc: keyFunc, newFunc: newFunc, newListFunc: newListFunc, lastChange: &atomic.Uint64{}}
		opened, destroy, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, s.observe(getAttrs), trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		s.storage, s.objects = opened, opened
		remove := c.storages.add(s)
		return opened, func() {
			remove()
			destroy()
		}, nil
	}
	return options, nil
}

// add records a storage, unless it has no watch cache. For a built-in kind, it replaces the storage
// that was recorded before: a server opens the storages of some kinds twice, and destroys the
// first. The caller calls remove when the storage is destroyed.
func (s *Storages) add(opened *stored) (remove func()) {
	if _, cached := opened.storage.(*cacher.CacheDelegator); !cached {
		return func() {}
	}
	s.byStorage.Store(opened.storage, opened)
	var kinds []schema.GroupVersionKind
	if example := opened.newFunc(); !isCustomResource(example) {
		kinds, _, _ = s.scheme.ObjectKinds(example) // none for a type that the scheme lacks
	}
	for _, kind := range kinds {
		s.byKind.Store(kind.GroupKind(), opened)
	}
	return func() {
		s.byStorage.Delete(opened.storage)
		for _, kind := range kinds {
			s.byKind.CompareAndDelete(kind.GroupKind(), opened)
		}
	}
}

func isCustomResource(object runtime.Object) bool {
	_, ok := object.(*unstructured.Unstructured)
	return ok
}

// Find is a lookupsource.Find. It finds built-in kinds and, after ReadCustomResources,
// custom resources. The objects that it lists and watches may share memory with the watch cache, so
// they must not be changed.
func (s *Storages) Find(ctx context.Context, kind schema.GroupVersionKind, resource paramsource.Resource) (lookupsource.Found, error) {
	if found, ok := s.byKind.Load(kind.GroupKind()); ok && s.scheme.Recognizes(kind) {
		return lookupsource.Found{ListerWatcher: listerWatcher{found.(*stored), s.scheme, kind}}, nil
	}
	return s.findCustom(ctx, kind, resource)
}

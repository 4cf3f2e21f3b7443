// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// Storage is a RESTOptionsGetter whose storages hold nothing, and that counts them.
type Storage struct {
	// Fail, if set, is returned instead of a storage whenever as many are open as Capacity.
	Fail     error
	Capacity int64

	open, opened atomic.Int64
}

// Open returns how many storages are open.
func (s *Storage) Open() int64 { return s.open.Load() }

// Opened returns how many storages have been opened, those included that have been closed.
func (s *Storage) Opened() int64 { return s.opened.Load() }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s *Storage) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.Config{Codec: unstructured.UnstructuredJSONScheme}
	return generic.RESTOptions{
		StorageConfig:  config.ForResource(resource),
		Decorator:      s.decorate,
		ResourcePrefix: resource.Group + "/" + resource.Resource,
	}, nil
}

func (s *Storage) decorate(*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object, storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
	if s.Fail != nil && s.open.Load() == s.Capacity {
		return nil, nil, s.Fail
	}
	s.open.Add(1)
	s.opened.Add(1)
	var closed atomic.Bool
	return empty{}, func() {
		if closed.CompareAndSwap(false, true) {
			s.open.Add(-1)
		}
	}, nil
}

// empty has no objects. It implements only what opening a storage calls.
type empty struct{ storage.Interface }

func (empty) ReadinessCheck() error { return nil }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest

import (
	"context"
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

// Storage is a RESTOptionsGetter for tests. The storages that are opened with its options hold
// nothing, or one object. They cannot be written to, but requests with the option dryRun work. Open
// and Opened count them, so that a test can find storages that were not closed.
type Storage struct {
	// Object, if set, is the object that storages return for every key.
	Object *unstructured.Unstructured

	// Fail, if set, is the error with which opening a storage fails while Capacity storages are
	// open.
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
	return stored{object: s.Object}, func() {
		if closed.CompareAndSwap(false, true) {
			s.open.Add(-1)
		}
	}, nil
}

// stored implements the methods of a storage that the registry calls to open it, to read and to
// perform dry runs.
type stored struct {
	storage.Interface
	object *unstructured.Unstructured
}

func (stored) ReadinessCheck() error { return nil }

func (stored) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (s stored) Get(_ context.Context, key string, _ storage.GetOptions, into runtime.Object) error {
	if s.object == nil {
		return storage.NewKeyNotFoundError(key, 0)
	}
	s.object.DeepCopyInto(into.(*unstructured.Unstructured))
	return nil
}

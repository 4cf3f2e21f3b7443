// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/apiextensions-apiserver/pkg/apiserver"
	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

// A StorageOpener opens the storages of custom resources. *apiserver.StorageOpener implements it.
type StorageOpener interface {
	// Open returns the storage of a version, or nil if the server does not serve it.
	Open(ctx context.Context, resource schema.GroupVersionResource) (*apiserver.OpenedStorage, error)
}

// ReadCustomResources lets Find find custom resources, too, in the storages that from opens. The
// server must open these storages with the options of Collect, because Find uses only storages that
// Collect has recorded. ReadCustomResources must be called before the first call of Find.
func (s *Storages) ReadCustomResources(from StorageOpener) { s.customResources = from }

// findCustom is Find for custom resources.
func (s *Storages) findCustom(ctx context.Context, kind schema.GroupVersionKind, resource paramsource.Resource) (lookupsource.Found, error) {
	if s.customResources == nil {
		return lookupsource.Found{}, nil
	}
	opened, err := s.customResources.Open(ctx, resource.GroupVersionResource)
	if err != nil || opened == nil {
		return lookupsource.Found{}, err
	}
	store := opened.Store
	if store.NamespaceScoped() != resource.Namespaced {
		return lookupsource.Found{}, fmt.Errorf("discovery does not have the present scope of %v yet", resource.GroupVersionResource)
	}
	// With conversion rules, the storage of a version has no watch cache: it converts the objects
	// of a storage that all versions share. Collect has recorded the shared one.
	objects := store.Storage.Storage
	cached := objects
	if converting, ok := objects.(*versionedstorage.VersionStorage); ok {
		cached = converting.Interface
	}
	found, ok := s.byStorage.Load(cached)
	if !ok {
		return lookupsource.Found{}, nil
	}
	custom := *found.(*stored)
	custom.objects, custom.newFunc, custom.newListFunc = objects, store.NewFunc, store.NewListFunc
	return lookupsource.Found{ListerWatcher: listerWatcher{&custom, s.scheme, kind}, Outdated: opened.Outdated}, nil
}

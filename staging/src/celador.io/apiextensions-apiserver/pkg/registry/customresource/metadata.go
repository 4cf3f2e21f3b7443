// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// ForMetadata returns a copy of a store for updates that change only metadata. A store has the
// schema of one version, but these objects may have any version, so the copy validates only
// metadata.
func ForMetadata(store *registry.Store) *registry.Store {
	metadata := *store
	metadata.UpdateStrategy = metadataStrategy{store.UpdateStrategy}
	return &metadata
}

type metadataStrategy struct{ rest.RESTUpdateStrategy }

// PrepareForUpdate implements rest.RESTUpdateStrategy. It does nothing, because a change of
// metadata does not increment the generation.
func (metadataStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

// ValidateUpdate implements rest.RESTUpdateStrategy. It leaves the metadata to rest.BeforeUpdate,
// which calls it, and which validates the metadata of all resources itself.
func (metadataStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

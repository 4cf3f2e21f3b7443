// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package status serves status subresources, for any resource whose store it is given.
package status

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A REST serves get, update and patch of a status subresource. It is safe for concurrent use.
type REST struct {
	store *registry.Store // not embedded, because a status can be neither listed nor deleted
}

var (
	_ rest.Patcher             = &REST{}
	_ rest.Storage             = &REST{}
	_ rest.ResetFieldsStrategy = &REST{}
)

// New returns the status subresource of the resource that main stores. update prepares and
// validates updates of the status. reset names the fields that updates of the status leave as they
// are stored, so that no client becomes their manager.
func New(main *registry.Store, update rest.RESTUpdateStrategy, reset rest.ResetFieldsStrategy) *REST {
	store := *main
	store.UpdateStrategy, store.ResetFieldsStrategy = update, reset
	return &REST{&store}
}

// New implements rest.Storage.
func (r *REST) New() runtime.Object { return r.store.New() }

// Destroy implements rest.Storage. It does nothing, because the storage of the resource destroys
// the store.
func (r *REST) Destroy() {}

// Get implements rest.Getter. Patches read the object with it.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update implements rest.Updater. It never creates an object, whatever forceAllowCreate is.
func (r *REST) Update(ctx context.Context, name string, object rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc, validateUpdate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, object, validateCreate, validateUpdate, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (r *REST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

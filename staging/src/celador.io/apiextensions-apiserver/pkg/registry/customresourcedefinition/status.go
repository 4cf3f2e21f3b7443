// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// StatusREST is the status subresource of CustomResourceDefinitions. It is safe for concurrent use.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
)

// NewStatusREST returns the status subresource over the storage of CustomResourceDefinitions. typer
// is as for NewREST.
func NewStatusREST(typer runtime.ObjectTyper, crds *REST) *StatusREST {
	strategy := newStatusStrategy(typer)
	store := *crds.Store
	store.CreateStrategy = nil
	store.DeleteStrategy = nil
	store.UpdateStrategy = strategy
	store.ResetFieldsStrategy = strategy
	return &StatusREST{&store}
}

// New implements rest.Storage.
func (r *StatusREST) New() runtime.Object { return &apiextensions.CustomResourceDefinition{} }

// Destroy implements rest.Storage. The storage belongs to the REST, which destroys it.
func (r *StatusREST) Destroy() {}

// Get implements rest.Getter, which patches need.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update implements rest.Updater. It never creates a CustomResourceDefinition, whatever
// forceAllowCreate is.
func (r *StatusREST) Update(ctx context.Context, name string, object rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc, validateUpdate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, object, validateCreate, validateUpdate, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

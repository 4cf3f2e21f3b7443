// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policystatus serves the status subresource of policies, which is the same for
// both kinds.
package policystatus

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// REST serves the status subresource of a resource: get, update and patch. Safe for
// concurrent use.
type REST struct {
	store *registry.Store // not embedded: a status can be neither listed nor deleted
}

// NewREST returns the subresource of what the store serves. They share what is stored;
// strategy, which is for the status, governs writes.
func NewREST[P metav1.Object](resource *registry.Store, strategy Strategy[P]) *REST {
	store := *resource
	store.UpdateStrategy, store.ResetFieldsStrategy = strategy, strategy
	return &REST{&store}
}

// New returns an empty policy.
func (r *REST) New() runtime.Object { return r.store.New() }

// Destroy does nothing; the store is the resource's to destroy.
func (*REST) Destroy() {}

// Get returns the policy of that name, or a not found error.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update writes the status of an existing policy and returns the whole policy. It
// never creates one, not even for server-side apply: a status without a policy
// comes from a client that has not seen the deletion yet.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, info, create, update, false, options)
}

// GetResetFields returns the fields that a status write ignores, by served version.
func (r *REST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable returns the policy as kubectl prints it.
func (r *REST) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, obj, options)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// StatusREST serves validatingadmissionpolicies/status: get, update and patch.
// Safe for concurrent use.
type StatusREST struct {
	store *registry.Store // not embedded: a status can be neither listed nor deleted
}

// New returns an empty policy.
func (r *StatusREST) New() runtime.Object { return r.store.New() }

// Destroy does nothing; the store is REST's to destroy.
func (*StatusREST) Destroy() {}

// Get returns the policy of that name, or a not found error.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update writes the status of an existing policy and returns the whole policy. It
// never creates one, not even for server-side apply: a status without a policy
// comes from a client that has not seen the deletion yet.
func (r *StatusREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, info, create, update, false, options)
}

// GetResetFields returns the fields that a status write ignores, by served version.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable returns the policy as kubectl prints it.
func (r *StatusREST) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, obj, options)
}

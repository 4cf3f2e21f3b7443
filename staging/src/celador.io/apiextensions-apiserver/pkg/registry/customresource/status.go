// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var (
	_ rest.Patcher             = &StatusREST{}
	_ rest.ResetFieldsStrategy = &StatusREST{}
)

// StatusREST is the storage of the status subresource.
type StatusREST struct{ store *registry.Store }

func newStatusREST(main *registry.Store, strategy resettingStrategy, validation additional) *StatusREST {
	store := *main
	store.UpdateStrategy = updateStrategy{strategy, validation}
	store.ResetFieldsStrategy = strategy
	return &StatusREST{&store}
}

// resettingStrategy is a strategy of updates that ignore some fields of the new object.
type resettingStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// New implements rest.Updater.
func (r *StatusREST) New() runtime.Object { return r.store.New() }

// Get implements rest.Getter.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update implements rest.Updater. It never creates an object.
func (r *StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, objInfo, createValidation, updateValidation, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

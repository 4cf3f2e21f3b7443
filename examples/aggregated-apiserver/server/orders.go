// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"celador.io/celador/examples/aggregated-apiserver/bakery/v1"
)

// strategy creates and updates orders. It does not validate them: the policies of the cluster do.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
}

// newOrders returns the storage of orders in etcd.
func newOrders(options generic.RESTOptionsGetter) (*registry.Store, error) {
	orders := v1.GroupVersion.WithResource("orders").GroupResource()
	s := strategy{scheme, names.SimpleNameGenerator}
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &v1.Order{} },
		NewListFunc:               func() runtime.Object { return &v1.OrderList{} },
		DefaultQualifiedResource:  orders,
		SingularQualifiedResource: v1.GroupVersion.WithResource("order").GroupResource(),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		TableConvertor:            rest.NewDefaultTableConvertor(orders),
	}
	return store, store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options})
}

// NamespaceScoped implements rest.RESTCreateStrategy.
func (strategy) NamespaceScoped() bool { return true }

// PrepareForCreate implements rest.RESTCreateStrategy.
func (strategy) PrepareForCreate(context.Context, runtime.Object) {}

// Validate implements rest.RESTCreateStrategy.
func (strategy) Validate(context.Context, runtime.Object) field.ErrorList { return nil }

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }

// Canonicalize implements rest.RESTCreateStrategy.
func (strategy) Canonicalize(runtime.Object) {}

// AllowCreateOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate implements rest.RESTUpdateStrategy.
func (strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (strategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (strategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (strategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

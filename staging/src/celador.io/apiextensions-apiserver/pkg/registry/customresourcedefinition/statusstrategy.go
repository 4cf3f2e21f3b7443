// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"

	upstreamregistry "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/registry/status"
)

// NewStatusREST returns the status subresource over the storage of CustomResourceDefinitions. typer
// is as for NewREST.
func NewStatusREST(typer runtime.ObjectTyper, crds *REST) *status.REST {
	strategy := statusStrategy{upstreamregistry.NewStatusStrategy(typer)}
	return status.New(crds.Store, strategy, strategy)
}

// statusStrategy updates the status of CustomResourceDefinitions with Kubernetes' strategy for it.
// It keeps the spec, expressions included.
type statusStrategy struct{ upstreamUpdateStrategy }

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s.upstreamUpdateStrategy.PrepareForUpdate(ctx, part(obj), part(old))
	obj.(*apiextensions.CustomResourceDefinition).Expressions = old.(*apiextensions.CustomResourceDefinition).Expressions
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return s.upstreamUpdateStrategy.ValidateUpdate(ctx, part(obj), part(old))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.upstreamUpdateStrategy.WarningsOnUpdate(ctx, part(obj), part(old))
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"

	upstreamregistry "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// upstreamStatusStrategy lists the interfaces of Kubernetes' strategy for the status of
// CustomResourceDefinitions, whose type is not exported.
type upstreamStatusStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// statusStrategy updates the status of CustomResourceDefinitions. It keeps the spec, expressions
// included.
type statusStrategy struct {
	upstreamStatusStrategy
}

func newStatusStrategy(typer runtime.ObjectTyper) statusStrategy {
	return statusStrategy{upstreamregistry.NewStatusStrategy(typer)}
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s.upstreamStatusStrategy.PrepareForUpdate(ctx, part(obj), part(old))
	obj.(*apiextensions.CustomResourceDefinition).Expressions = old.(*apiextensions.CustomResourceDefinition).Expressions
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return s.upstreamStatusStrategy.ValidateUpdate(ctx, part(obj), part(old))
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (s statusStrategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.upstreamStatusStrategy.WarningsOnUpdate(ctx, part(obj), part(old))
}

// Canonicalize implements rest.RESTUpdateStrategy.
func (s statusStrategy) Canonicalize(obj runtime.Object) {
	s.upstreamStatusStrategy.Canonicalize(part(obj))
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"
	"slices"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// upstreamStrategy and upstreamUpdateStrategy are the interfaces of Kubernetes' strategies for
// CustomResourceDefinitions and for their status, whose types are not exported. The strategies of
// this package embed them, and override the methods that take an object, because Kubernetes'
// methods need Kubernetes' type. Canonicalize is not overridden, because it does nothing.
type upstreamStrategy interface {
	rest.RESTCreateStrategy
	upstreamUpdateStrategy
}

type upstreamUpdateStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// strategy creates and updates CustomResourceDefinitions. It leaves all fields that Kubernetes has
// to Kubernetes' strategy, and handles the expressions itself.
type strategy struct{ upstreamStrategy }

// part returns Kubernetes' part of a CustomResourceDefinition.
func part(obj runtime.Object) *upstream.CustomResourceDefinition {
	return &obj.(*apiextensions.CustomResourceDefinition).CustomResourceDefinition
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (s strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	dropDisabledExpressions(ctx, obj.(*apiextensions.CustomResourceDefinition), nil)
	s.upstreamStrategy.PrepareForCreate(ctx, part(obj))
}

// Validate implements rest.RESTCreateStrategy. It also sends the warnings about expressions,
// because WarningsOnCreate would have to check the expressions again. So a request that is rejected
// later, for its metadata for example, has these warnings, too.
func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	if errs := checkValidationRules(part(obj)); len(errs) > 0 {
		return errs
	}
	return validateExpressions(ctx, obj, nil, nameStrategies(s.upstreamStrategy.Validate(ctx, part(obj))))
}

// WarningsOnCreate implements rest.RESTCreateStrategy.
func (s strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.upstreamStrategy.WarningsOnCreate(ctx, part(obj))
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. A change of the expressions increments the
// generation.
func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	updated, existing := obj.(*apiextensions.CustomResourceDefinition), old.(*apiextensions.CustomResourceDefinition)
	dropDisabledExpressions(ctx, updated, existing.Expressions)
	s.upstreamStrategy.PrepareForUpdate(ctx, part(obj), part(old))
	if !apiequality.Semantic.DeepEqual(existing.Expressions, updated.Expressions) {
		updated.Generation = existing.Generation + 1
	}
}

// ValidateUpdate implements rest.RESTUpdateStrategy. It warns about expressions, like Validate.
func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	crd, stored, errs := withoutStoredLargeRules(part(obj), part(old))
	if len(errs) > 0 {
		return errs
	}
	errs = withoutStoredCosts(nameStrategies(s.upstreamStrategy.ValidateUpdate(ctx, crd, stored)), crd, stored)
	return validateExpressions(ctx, obj, old.(*apiextensions.CustomResourceDefinition), errs)
}

// WarningsOnUpdate implements rest.RESTUpdateStrategy.
func (s strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.upstreamStrategy.WarningsOnUpdate(ctx, part(obj), part(old))
}

// validateExpressions appends the errors about default rules and conversion rules to errs, or adds
// the warnings about them to the request if there are no errors. old is nil on create.
func validateExpressions(ctx context.Context, obj runtime.Object, old *apiextensions.CustomResourceDefinition, errs field.ErrorList) field.ErrorList {
	crd := obj.(*apiextensions.CustomResourceDefinition)
	defaultErrs, defaultWarnings := validateDefaultRules(crd, old)
	conversionErrs, conversionWarnings := validateConversionRules(crd, old)
	errs = slices.Concat(errs, defaultErrs, conversionErrs)
	if len(errs) == 0 {
		for _, text := range slices.Concat(defaultWarnings, conversionWarnings) {
			warning.AddWarning(ctx, "", text)
		}
	}
	return errs
}

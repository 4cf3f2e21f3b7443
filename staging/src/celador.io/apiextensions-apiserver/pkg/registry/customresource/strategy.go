// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
)

// A Validator validates custom resources. It is safe for concurrent use.
type Validator interface {
	// Validate returns the errors about an object. old is nil when the object is created. Warnings
	// about values that are invalid, but did not change, are added to the recorder of ctx. Validate
	// does not change the objects.
	Validate(ctx context.Context, object, old map[string]any) field.ErrorList
}

// Defaults evaluates default expressions. Its Validate returns an error for each of them that
// failed for the object and left its field unset.
type Defaults interface {
	Validator
	// Default sets unset fields of the object.
	Default(object map[string]any)
}

// createStrategy validates more than Kubernetes' strategy.
type createStrategy struct {
	rest.RESTCreateStrategy
	additional additional
}

// PrepareForCreate implements rest.RESTCreateStrategy. Decoding the request has set the defaults.
// They are set once more if Kubernetes has generated the name or removed the status, which default
// expressions may read or set.
func (s createStrategy) PrepareForCreate(ctx context.Context, object runtime.Object) {
	s.RESTCreateStrategy.PrepareForCreate(ctx, object)
	if u, ok := object.(*unstructured.Unstructured); ok && (s.additional.partial || u.GetGenerateName() != "") {
		s.additional.setDefaults(object)
	}
}

// Validate implements rest.RESTCreateStrategy.
func (s createStrategy) Validate(ctx context.Context, object runtime.Object) field.ErrorList {
	errs := s.RESTCreateStrategy.Validate(ctx, object)
	if u, ok := object.(*unstructured.Unstructured); ok {
		return s.additional.validate(ctx, u.Object, nil, errs)
	}
	return errs
}

// updateStrategy validates more than Kubernetes' strategy that it embeds: the one for updates of
// the resource, or the one for updates of its status.
type updateStrategy struct {
	rest.RESTUpdateStrategy
	additional additional
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. Kubernetes' strategy takes the status, or
// everything else, from the old object, so that default expressions may read other values than in
// the request. They must not set fields of the old object, which validation and admission compare
// with the new one, so the new object takes its values from a copy.
func (s updateStrategy) PrepareForUpdate(ctx context.Context, object, old runtime.Object) {
	if s.additional.defaults == nil || !s.additional.partial {
		s.RESTUpdateStrategy.PrepareForUpdate(ctx, object, old)
		return
	}
	s.RESTUpdateStrategy.PrepareForUpdate(ctx, object, old.DeepCopyObject())
	s.additional.setDefaults(object)
}

// ValidateUpdate implements rest.RESTUpdateStrategy.
func (s updateStrategy) ValidateUpdate(ctx context.Context, object, old runtime.Object) field.ErrorList {
	errs := s.RESTUpdateStrategy.ValidateUpdate(ctx, object, old)
	u, ok := object.(*unstructured.Unstructured)
	before, okBefore := old.(*unstructured.Unstructured)
	if ok && okBefore {
		return s.additional.validate(ctx, u.Object, before.Object, errs)
	}
	return errs
}

// additional evaluates default expressions after Kubernetes' strategy has prepared an object, and
// validates by default expressions, validation rules and conversions after Kubernetes' strategy has
// validated the object by its schema.
type additional struct {
	rules       Validator
	defaults    Defaults
	conversions Validator
	// partial is set if subresources write parts of objects, so that the request does not have the
	// object that is stored.
	partial bool
}

// setDefaults runs the default expressions again before the object is stored, so that a read finds
// nothing to set.
func (a additional) setDefaults(object runtime.Object) {
	if u, ok := object.(*unstructured.Unstructured); ok && a.defaults != nil {
		a.defaults.Default(u.Object)
	}
}

// validate returns the errors of the schema, which are errs, with those of default expressions and
// validation rules. An object without errors must also convert to all versions.
func (a additional) validate(ctx context.Context, object, old map[string]any, errs field.ErrorList) field.ErrorList {
	errs = a.validateRules(ctx, object, old, errs)
	if a.conversions == nil || len(errs) > 0 {
		return errs
	}
	return a.conversions.Validate(ctx, object, old)
}

// validateRules appends the errors of default expressions and of validation rules to errs, those of
// the schema. It evaluates no validation rule if a value may not have the type that the schema
// declares, or if a default expression has failed and left its field unset.
func (a additional) validateRules(ctx context.Context, object, old map[string]any, errs field.ErrorList) field.ErrorList {
	errs = locate(errs)
	blocked := blocking(errs)
	if a.defaults != nil {
		failed := a.defaults.Validate(ctx, object, old)
		errs = append(errs, failed...)
		blocked = blocked || len(failed) > 0
	}
	switch {
	case a.rules == nil:
		return errs
	case blocked:
		return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	default:
		return append(errs, a.rules.Validate(ctx, object, old)...)
	}
}

// blocking reports whether rules must not be evaluated after errors: values may have other types
// than the rules expect, or may be so large that rules cost more than estimated.
func blocking(errs field.ErrorList) bool {
	types := []field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}
	return slices.ContainsFunc(errs, func(err *field.Error) bool { return slices.Contains(types, err.Type) })
}

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

// createStrategy adds default expressions, validation rules and conversions to Kubernetes'
// strategy.
type createStrategy struct {
	rest.RESTCreateStrategy
	additional additional
}

// PrepareForCreate implements rest.RESTCreateStrategy. The object has its defaults since the
// request was decoded. They are set again if Kubernetes has generated the name or removed the
// status, because default expressions may read or set these.
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

// updateStrategy adds default expressions, validation rules and conversions to one of Kubernetes'
// strategies: that for updates of the resource, or that for updates of its status.
type updateStrategy struct {
	rest.RESTUpdateStrategy
	additional additional
}

// PrepareForUpdate implements rest.RESTUpdateStrategy. Kubernetes' strategy takes the status, or
// everything else, from the old object. So default expressions may read other values now than when
// the request was decoded, and run again. The new object gets copies of the old one's values, since
// default expressions would otherwise write to the old object, with which validation and admission
// compare.
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

// additional is what the strategies add to Kubernetes': it runs default expressions after an object
// was prepared, and validates an object by default expressions, validation rules and conversions
// after Kubernetes has validated it by its schema.
type additional struct {
	rules       Validator
	defaults    Defaults
	conversions Validator
	// partial is set if there are subresources. Their requests, and those for the resource, may
	// write only a part of the object, so the stored object may differ from that of the request.
	partial bool
}

// setDefaults runs the default expressions once more before the object is stored. A read would run
// them anyway, and must find nothing to set.
func (a additional) setDefaults(object runtime.Object) {
	if u, ok := object.(*unstructured.Unstructured); ok && a.defaults != nil {
		a.defaults.Default(u.Object)
	}
}

// validate returns errs, the errors of the schema, together with those of default expressions and
// validation rules. If there are none, it returns the errors of converting the object to the other
// versions.
func (a additional) validate(ctx context.Context, object, old map[string]any, errs field.ErrorList) field.ErrorList {
	errs = a.validateRules(ctx, object, old, errs)
	if a.conversions == nil || len(errs) > 0 {
		return errs
	}
	return a.conversions.Validate(ctx, object, old)
}

// validateRules appends the errors of default expressions and validation rules to errs, the errors
// of the schema. Validation rules are not evaluated if a value may have another type than the
// schema declares, or if a default expression has failed, so that its field is unset.
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

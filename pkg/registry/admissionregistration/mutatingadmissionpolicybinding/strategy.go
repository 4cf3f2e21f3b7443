// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutatingadmissionpolicybinding has the rules by which the server
// writes MutatingAdmissionPolicyBindings.
package mutatingadmissionpolicybinding

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/registry/admissionregistration/basestrategy"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/staticname"
)

// Strategy governs writes to a binding. It implements rest.RESTCreateStrategy,
// RESTUpdateStrategy and RESTDeleteStrategy, and is safe for concurrent use.
type Strategy struct {
	basestrategy.Strategy
	params paramaccess.Checker
	kindOf paramaccess.KindGetter
}

// NewStrategy returns a Strategy that lets users select parameters only if params
// finds that they may read them. kindOf reads the bound policy.
func NewStrategy(params paramaccess.Checker, kindOf paramaccess.KindGetter) Strategy {
	return Strategy{Strategy: basestrategy.New(), params: params, kindOf: kindOf}
}

// PrepareForCreate begins with generation 1.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	binding := obj.(*admissionregistration.MutatingAdmissionPolicyBinding)
	binding.Generation = 1
}

// PrepareForUpdate counts the generation up when the spec changes.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	binding, stored := both(obj, old)
	if !equality.Semantic.DeepEqual(binding.Spec, stored.Spec) {
		binding.Generation = stored.Generation + 1
	}
}

// Validate returns what is wrong with a new binding. Only for an otherwise valid one it
// asks whether the user may read what paramRef selects.
func (s Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	binding := obj.(*admissionregistration.MutatingAdmissionPolicyBinding)
	errs := append(validation.ValidateMutatingAdmissionPolicyBinding(binding), staticname.Validate(binding.Name)...)
	if len(errs) > 0 {
		return errs
	}
	return s.params.ValidateRef(ctx, binding.Spec.ParamRef, binding.Spec.PolicyName, s.kindOf)
}

// ValidateUpdate returns the validation errors of an updated binding. If any field of the spec
// changes, the user must be allowed to read the params that paramRef selects, because
// matchResources determines the objects and messages that show the params.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	binding, stored := both(obj, old)
	errs := validation.ValidateMutatingAdmissionPolicyBinding(binding)
	if len(errs) > 0 || equality.Semantic.DeepEqual(binding.Spec, stored.Spec) {
		return errs
	}
	return s.params.ValidateRef(ctx, binding.Spec.ParamRef, binding.Spec.PolicyName, s.kindOf)
}

func both(obj, old runtime.Object) (binding, stored *admissionregistration.MutatingAdmissionPolicyBinding) {
	return obj.(*admissionregistration.MutatingAdmissionPolicyBinding), old.(*admissionregistration.MutatingAdmissionPolicyBinding)
}

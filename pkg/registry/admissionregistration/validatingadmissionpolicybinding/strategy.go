// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validatingadmissionpolicybinding has the rules by which the server
// writes ValidatingAdmissionPolicyBindings.
package validatingadmissionpolicybinding

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
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
	params   paramaccess.Checker
	policies PolicyGetter
}

// PolicyGetter returns the spec of the policy of that name, which is not to be
// changed, or an error: not found, or that of reading it.
type PolicyGetter func(ctx context.Context, name string) (*v1.ValidatingAdmissionPolicySpec, error)

func (get PolicyGetter) paramKind(ctx context.Context, policy string) (*v1.ParamKind, error) {
	spec, err := get(ctx, policy)
	if err != nil {
		return nil, err
	}
	return spec.ParamKind, nil
}

// NewStrategy returns a Strategy that lets users select parameters only if params
// finds that they may read them. policies reads the bound policy.
func NewStrategy(params paramaccess.Checker, policies PolicyGetter) Strategy {
	return Strategy{Strategy: basestrategy.New(), params: params, policies: policies}
}

// PrepareForCreate begins with generation 1. It drops fields whose feature gate is
// off.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	binding := obj.(*admissionregistration.ValidatingAdmissionPolicyBinding)
	binding.Generation = 1
	dropDisabled(&binding.Spec, &v1.ValidatingAdmissionPolicyBindingSpec{})
}

// PrepareForUpdate drops fields whose feature gate is off unless they are in use,
// and counts the generation up when the spec changes.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	binding, stored := both(obj, old)
	dropDisabled(&binding.Spec, &stored.Spec)
	if !equality.Semantic.DeepEqual(binding.Spec, stored.Spec) {
		binding.Generation = stored.Generation + 1
	}
}

// Validate returns what is wrong with a new binding. Only for an otherwise valid
// one it asks whether the policy takes bindings, and whether the user may read what
// paramRef selects.
func (s Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	binding := obj.(*admissionregistration.ValidatingAdmissionPolicyBinding)
	errs := append(validation.ValidateValidatingAdmissionPolicyBinding(binding), staticname.Validate(binding.Name)...)
	if len(errs) > 0 {
		return errs
	}
	if errs := s.checkPolicy(ctx, binding.Spec.PolicyName); len(errs) > 0 {
		return errs
	}
	return s.params.ValidateRef(ctx, binding.Spec.ParamRef, binding.Spec.PolicyName, s.policies.paramKind)
}

// ValidateUpdate returns the validation errors of an updated binding. If policyName changes,
// the new policy must take bindings. If any field of the spec changes, the user must be allowed
// to read the params that paramRef selects, because matchResources and validationActions
// determine who reads messages about the params.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	binding, stored := both(obj, old)
	errs := validation.ValidateValidatingAdmissionPolicyBindingUpdate(binding, stored)
	if len(errs) > 0 || equality.Semantic.DeepEqual(binding.Spec, stored.Spec) {
		return errs
	}
	if binding.Spec.PolicyName != stored.Spec.PolicyName {
		if errs := s.checkPolicy(ctx, binding.Spec.PolicyName); len(errs) > 0 {
			return errs
		}
	}
	return s.params.ValidateRef(ctx, binding.Spec.ParamRef, binding.Spec.PolicyName, s.policies.paramKind)
}

func both(obj, old runtime.Object) (binding, stored *admissionregistration.ValidatingAdmissionPolicyBinding) {
	return obj.(*admissionregistration.ValidatingAdmissionPolicyBinding), old.(*admissionregistration.ValidatingAdmissionPolicyBinding)
}

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
	"k8s.io/apiserver/pkg/storage/names"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/staticname"
)

// Strategy governs writes to a binding. It implements rest.RESTCreateStrategy,
// RESTUpdateStrategy and RESTDeleteStrategy, and is safe for concurrent use.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	params paramaccess.Checker
	kindOf paramaccess.KindGetter
}

// NewStrategy returns a Strategy that lets users select parameters only if params
// finds that they may read them. kindOf reads the bound policy.
func NewStrategy(params paramaccess.Checker, kindOf paramaccess.KindGetter) Strategy {
	return Strategy{ObjectTyper: scheme.Scheme, NameGenerator: names.SimpleNameGenerator, params: params, kindOf: kindOf}
}

// NamespaceScoped returns false.
func (Strategy) NamespaceScoped() bool { return false }

// AllowCreateOnUpdate returns false: PUT does not create.
func (Strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate returns false: an update names the resourceVersion
// that it is based on.
func (Strategy) AllowUnconditionalUpdate(context.Context) bool { return false }

// Canonicalize leaves the object as it is.
func (Strategy) Canonicalize(runtime.Object) {}

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
	return s.checkParamRef(ctx, binding)
}

// ValidateUpdate returns what is wrong with a changed binding. As Validate does, it asks
// for access to the parameters, when the policy or the paramRef is another than before.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	binding, stored := both(obj, old)
	errs := validation.ValidateMutatingAdmissionPolicyBinding(binding)
	if len(errs) > 0 || sameParams(binding, stored) {
		return errs
	}
	return s.checkParamRef(ctx, binding)
}

func (s Strategy) checkParamRef(ctx context.Context, binding *admissionregistration.MutatingAdmissionPolicyBinding) field.ErrorList {
	if binding.Spec.ParamRef == nil {
		return nil
	}
	if err := s.params.CheckRef(ctx, *binding.Spec.ParamRef, binding.Spec.PolicyName, s.kindOf); err != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "paramRef"), err.Error())}
	}
	return nil
}

// WarningsOnCreate warns of a name that manifest files may own one day.
func (Strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return staticname.WarningsOnCreate(obj.(*admissionregistration.MutatingAdmissionPolicyBinding).Name)
}

// WarningsOnUpdate warns of a name that manifest files own.
func (Strategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return staticname.WarningsOnUpdate(obj.(*admissionregistration.MutatingAdmissionPolicyBinding).Name)
}

func both(obj, old runtime.Object) (binding, stored *admissionregistration.MutatingAdmissionPolicyBinding) {
	return obj.(*admissionregistration.MutatingAdmissionPolicyBinding), old.(*admissionregistration.MutatingAdmissionPolicyBinding)
}

func sameParams(a, b *admissionregistration.MutatingAdmissionPolicyBinding) bool {
	return a.Spec.PolicyName == b.Spec.PolicyName && equality.Semantic.DeepEqual(a.Spec.ParamRef, b.Spec.ParamRef)
}

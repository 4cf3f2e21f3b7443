// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutatingadmissionpolicy has the rules by which the server writes
// MutatingAdmissionPolicies.
package mutatingadmissionpolicy

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/staticname"
)

// Strategy governs writes to a policy. It implements rest.RESTCreateStrategy,
// RESTUpdateStrategy and RESTDeleteStrategy, and is safe for concurrent use.
type Strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	params paramaccess.Checker
}

// NewStrategy returns a Strategy that lets users name a paramKind only if params
// finds that they may read it.
func NewStrategy(params paramaccess.Checker) Strategy {
	return Strategy{ObjectTyper: scheme.Scheme, NameGenerator: names.SimpleNameGenerator, params: params}
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

// PrepareForCreate begins with generation 1. It drops fields whose feature gate is
// off.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	policy := obj.(*admissionregistration.MutatingAdmissionPolicy)
	policy.Generation = 1
	dropDisabled(&policy.Spec, &v1.MutatingAdmissionPolicySpec{})
}

// PrepareForUpdate drops fields whose feature gate is off unless they are in use,
// and counts the generation up when the spec changes.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	policy, stored := both(obj, old)
	dropDisabled(&policy.Spec, &stored.Spec)
	if !equality.Semantic.DeepEqual(policy.Spec, stored.Spec) {
		policy.Generation = stored.Generation + 1
	}
}

// Validate returns what is wrong with a new policy. Only for an otherwise valid one it
// asks whether the user may read the paramKind.
func (s Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	policy := obj.(*admissionregistration.MutatingAdmissionPolicy)
	types := patchTypes(&v1.MutatingAdmissionPolicySpec{})
	errs := append(validation.ValidateMutatingAdmissionPolicy(policy, types), staticname.Validate(policy.Name)...)
	if len(errs) > 0 {
		return errs
	}
	return s.checkParamKind(ctx, policy)
}

// ValidateUpdate returns what is wrong with a changed policy. As Validate does, it asks
// for access to the paramKind, when that is another than before.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	policy, stored := both(obj, old)
	errs := validation.ValidateMutatingAdmissionPolicyUpdate(policy, stored, patchTypes(&stored.Spec))
	if len(errs) > 0 || equality.Semantic.DeepEqual(policy.Spec.ParamKind, stored.Spec.ParamKind) {
		return errs
	}
	return s.checkParamKind(ctx, policy)
}

func (s Strategy) checkParamKind(ctx context.Context, policy *admissionregistration.MutatingAdmissionPolicy) field.ErrorList {
	if policy.Spec.ParamKind == nil {
		return nil
	}
	if err := s.params.CheckKind(ctx, *policy.Spec.ParamKind); err != nil {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "paramKind"), err.Error())}
	}
	return nil
}

// WarningsOnCreate warns of a name that manifest files may own one day.
func (Strategy) WarningsOnCreate(_ context.Context, obj runtime.Object) []string {
	return staticname.WarningsOnCreate(obj.(*admissionregistration.MutatingAdmissionPolicy).Name)
}

// WarningsOnUpdate warns of a name that manifest files own.
func (Strategy) WarningsOnUpdate(_ context.Context, obj, _ runtime.Object) []string {
	return staticname.WarningsOnUpdate(obj.(*admissionregistration.MutatingAdmissionPolicy).Name)
}

func both(obj, old runtime.Object) (policy, stored *admissionregistration.MutatingAdmissionPolicy) {
	return obj.(*admissionregistration.MutatingAdmissionPolicy), old.(*admissionregistration.MutatingAdmissionPolicy)
}

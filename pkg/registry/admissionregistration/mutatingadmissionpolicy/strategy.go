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
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/registry/admissionregistration/basestrategy"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/policystatus"
	"celador.io/celador/pkg/registry/admissionregistration/staticname"
	"celador.io/celador/pkg/registry/admissionregistration/typeerrors"
)

// Strategy governs writes to a policy, but for its status. It implements
// rest.RESTCreateStrategy, RESTUpdateStrategy, RESTDeleteStrategy and
// ResetFieldsStrategy, and is safe for concurrent use.
type Strategy struct {
	basestrategy.Strategy
	params paramaccess.Checker
	types  typeerrors.Check[v1.MutatingAdmissionPolicy]
}

// NewStrategy returns a Strategy that lets users name a paramKind only if params
// finds that they may read it, and refuses policies in which types finds errors. Nil
// finds none.
func NewStrategy(params paramaccess.Checker, types typeerrors.Check[v1.MutatingAdmissionPolicy]) Strategy {
	return Strategy{Strategy: basestrategy.New(), params: params, types: types}
}

// PrepareForCreate begins with generation 1 and no status. It drops fields whose
// feature gate is off.
func (Strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	policy := obj.(*admissionregistration.MutatingAdmissionPolicy)
	policy.Generation = 1
	policy.Status = v1.MutatingAdmissionPolicyStatus{}
	dropDisabled(&policy.Spec, &v1.MutatingAdmissionPolicySpec{})
}

// PrepareForUpdate keeps the stored status, drops fields whose feature gate is off
// unless they are in use, and counts the generation up when the spec changes.
func (Strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	policy, stored := both(obj, old)
	policy.Status = stored.Status
	dropDisabled(&policy.Spec, &stored.Spec)
	if !equality.Semantic.DeepEqual(policy.Spec, stored.Spec) {
		policy.Generation = stored.Generation + 1
	}
}

// Validate returns what is wrong with a new policy. Only for an otherwise valid one it
// asks whether the user may read the paramKind, and checks types.
func (s Strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	policy, stored := obj.(*admissionregistration.MutatingAdmissionPolicy), &v1.MutatingAdmissionPolicySpec{}
	errs := append(validation.ValidateMutatingAdmissionPolicy(policy, patchTypes(stored)), staticname.Validate(policy.Name)...)
	if len(errs) > 0 {
		return errs
	}
	return append(s.params.ValidateKind(ctx, policy.Spec.ParamKind), s.checkTypes(policy, stored)...)
}

// ValidateUpdate returns what is wrong with a changed policy. As Validate does, it asks
// for access to the paramKind, when that is another than before, and checks types, when
// the outcome may be another than before.
func (s Strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	policy, stored := both(obj, old)
	errs := validation.ValidateMutatingAdmissionPolicyUpdate(policy, stored, patchTypes(&stored.Spec))
	if len(errs) > 0 {
		return errs
	}
	if !equality.Semantic.DeepEqual(policy.Spec.ParamKind, stored.Spec.ParamKind) {
		errs = s.params.ValidateKind(ctx, policy.Spec.ParamKind)
	}
	return append(errs, s.checkTypes(policy, &stored.Spec)...)
}

// GetResetFields returns the fields that a spec write ignores, by served version.
func (Strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return policystatus.InEachVersion("status")
}

// ForStatus returns the strategy for the status subresource.
func (s Strategy) ForStatus() policystatus.Strategy[*admissionregistration.MutatingAdmissionPolicy] {
	return policystatus.NewStrategy(s, keepSpec, validation.ValidateMutatingAdmissionPolicyStatusUpdate)
}

func keepSpec(policy, stored *admissionregistration.MutatingAdmissionPolicy) {
	policy.Spec = stored.Spec
}

func both(obj, old runtime.Object) (policy, stored *admissionregistration.MutatingAdmissionPolicy) {
	return obj.(*admissionregistration.MutatingAdmissionPolicy), old.(*admissionregistration.MutatingAdmissionPolicy)
}

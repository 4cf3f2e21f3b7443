// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyvalidation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/paramaccess"
	"celador.io/apiserver/pkg/features"
)

// PolicyDescriptor describes a kind of policies by a pointer to its v1 type and its spec.
// ValidatingPolicies and MutatingPolicies are the two kinds.
type PolicyDescriptor[Policy metav1.Object, Spec policyspec.Spec] struct {
	kind string
	spec func(Policy) *Spec
	// anatomy returns the expressions and gated fields of a spec, from which typeErrors learns
	// whether an update changes anything that a type check depends on.
	anatomy        func(*Spec) *policyspec.Anatomy
	validate       func(Policy) field.ErrorList
	validateUpdate func(policy, stored Policy) field.ErrorList
	// singletons is the feature that lets policies be Singletons.
	singletons policyspec.Feature
}

// ValidatingPolicies describes the kind ValidatingAdmissionPolicy.
var ValidatingPolicies = PolicyDescriptor[*v1.ValidatingAdmissionPolicy, v1.ValidatingAdmissionPolicySpec]{
	kind: "ValidatingAdmissionPolicy",
	spec: func(policy *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicySpec {
		return &policy.Spec
	},
	anatomy:        policyspec.Validating,
	validate:       validation.ValidateValidatingAdmissionPolicy,
	validateUpdate: validation.ValidateValidatingAdmissionPolicyUpdate,
	singletons:     policyspec.Singleton,
}

// MutatingPolicies describes the kind MutatingAdmissionPolicy.
var MutatingPolicies = PolicyDescriptor[*v1.MutatingAdmissionPolicy, v1.MutatingAdmissionPolicySpec]{
	kind:    "MutatingAdmissionPolicy",
	spec:    func(policy *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicySpec { return &policy.Spec },
	anatomy: policyspec.Mutating,
	validate: func(policy *v1.MutatingAdmissionPolicy) field.ErrorList {
		return validation.ValidateMutatingAdmissionPolicy(policy, enabledFeatures())
	},
	validateUpdate: func(policy, stored *v1.MutatingAdmissionPolicy) field.ErrorList {
		return validation.ValidateMutatingAdmissionPolicyUpdate(policy, stored, enabledFeatures())
	},
	singletons: policyspec.MutatingSingleton,
}

// TypeCheck returns the type errors for which a valid policy must not be stored. It must not
// change the policy and must be safe for concurrent use.
type TypeCheck[Policy metav1.Object] func(policy Policy) field.ErrorList

// TypeWarnings returns warnings about type errors of a valid policy. It must not change the policy,
// must answer quickly, and must be safe for concurrent use.
type TypeWarnings[Policy metav1.Object] func(ctx context.Context, policy Policy) []string

// BoundPolicyNames returns the names of the policies that bindings bind. version is the
// resourceVersion with which it lists the bindings: "0" means from a cache, and "" as recent as
// etcd.
type BoundPolicyNames func(ctx context.Context, version string) (sets.Set[string], error)

// Validator returns the Validator of the policies. The user must be allowed by params to read all
// objects of a new paramKind, and of the lookups of a policy whose spec changes. types, which may
// be nil, is called only while feature gate AdmissionPolicyTypeEnforcement is on. warnings may be
// nil, too. The Validator warns about an updated policy that, according to bound, no binding binds.
func (k PolicyDescriptor[Policy, Spec]) Validator(params paramaccess.Checker, types TypeCheck[Policy], warnings TypeWarnings[Policy], bound BoundPolicyNames) Validator[Policy] {
	return Validator[Policy]{
		validate: k.validate, validateUpdate: k.validateUpdate,
		check: func(ctx context.Context, policy, stored Policy) field.ErrorList {
			var errs field.ErrorList
			if paramKind := k.paramKind(policy); !equality.Semantic.DeepEqual(paramKind, k.paramKind(stored)) {
				errs = params.ValidateKind(ctx, paramKind)
			}
			// Every expression may show what another expression looks up, so each change counts.
			if !equality.Semantic.DeepEqual(k.spec(policy), k.spec(stored)) {
				errs = append(errs, params.ValidateLookups(ctx, k.anatomy(k.spec(policy)).Lookups)...)
			}
			return append(errs, k.typeErrors(types, policy, stored)...)
		},
		warn:        warnings,
		warnUpdated: func(ctx context.Context, policy Policy) []string { return k.warnUnbound(ctx, policy, bound) },
	}
}

// TakesEffectAlone reports whether a policy takes effect without a binding.
func (k PolicyDescriptor[Policy, Spec]) TakesEffectAlone(policy Policy) bool {
	return k.hasSingletons() && k.anatomy(k.spec(policy)).Singleton
}

// hasSingletons reports whether a policy of the kind can take effect without a binding.
func (k PolicyDescriptor[Policy, Spec]) hasSingletons() bool {
	return utilfeature.DefaultFeatureGate.Enabled(k.singletons)
}

func (k PolicyDescriptor[Policy, Spec]) paramKind(policy Policy) *v1.ParamKind {
	return k.anatomy(k.spec(policy)).ParamKind
}

// typeErrors returns the type errors of a policy. It returns none if the update changes nothing
// that they depend on: an earlier version of the server may have accepted the stored policy.
func (k PolicyDescriptor[Policy, Spec]) typeErrors(types TypeCheck[Policy], policy, stored Policy) field.ErrorList {
	if types == nil || !utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) {
		return nil
	}
	if k.anatomy(k.spec(policy)).SameTypes(k.anatomy(k.spec(stored))) {
		return nil
	}
	return types(policy)
}

// warnUnbound returns a warning if no binding binds the policy, and the policy needs one. It
// returns nil if the bindings cannot be listed.
func (k PolicyDescriptor[Policy, Spec]) warnUnbound(ctx context.Context, policy Policy, bound BoundPolicyNames) []string {
	if k.TakesEffectAlone(policy) {
		return nil
	}
	// The cache may not have the latest binding.
	for _, version := range []string{"0", ""} {
		if names, err := bound(ctx, version); err != nil || names.Has(policy.GetName()) {
			return nil
		}
	}
	return []string{fmt.Sprintf("the policy has no effect: no %sBinding has spec.policyName %q", k.kind, policy.GetName())}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import "k8s.io/component-base/featuregate"

// Feature names a feature gate on which fields of the API depend.
type Feature = featuregate.Feature

// The features of KEP-3488, KEP-3775 and KEP-3962 that Kubernetes has not shipped. All are alpha.
const (
	// Singleton lets policies with spec.policyType Singleton apply without a binding (KEP-3488,
	// "Singleton policies").
	Singleton Feature = "ValidatingAdmissionPolicySingleton"
	// ValidationFailurePolicy lets spec.validations[].failurePolicy override spec.failurePolicy
	// (KEP-3488, "Failure Policy").
	ValidationFailurePolicy Feature = "ValidatingAdmissionPolicyValidationFailurePolicy"
	// FallbackBinding lets bindings with spec.bindingType Fallback apply only where no other
	// binding of the policy does (KEP-3488, "Exclude and default matching").
	FallbackBinding Feature = "ValidatingAdmissionPolicyFallbackBinding"
	// MutatingSingleton lets mutating policies with spec.policyType Singleton apply without a
	// binding, as Singleton does for validating policies (KEP-3775, "Bindings and Parameter
	// Objects").
	MutatingSingleton Feature = "MutatingAdmissionPolicySingleton"
	// MutatingFallbackBinding lets bindings of mutating policies be fallbacks, as FallbackBinding
	// does for those of validating policies.
	MutatingFallbackBinding Feature = "MutatingAdmissionPolicyFallbackBinding"
	// TypeEnforcement lets type errors keep policies with spec.typeChecking Enforced from
	// deciding (KEP-3488, "Type safety").
	TypeEnforcement Feature = "AdmissionPolicyTypeEnforcement"
	// InlineExpressions lets mutations have an expression, condition, message, reason or
	// reinvocationPolicy, and adds the merge patches and the check that reinvoked mutations
	// settle (KEP-3962).
	InlineExpressions Feature = "MutatingAdmissionPolicyInlineExpressions"
)

// Lookups lets policies read other objects than those of the request, as spec.lookups declares
// (alpha). Neither KEP plans it.
const Lookups Feature = "AdmissionPolicyLookups"

// RequestTime lets the expressions of policies read request.time, the time at which the server
// received the request (alpha). KEP-3488 and KEP-3962 do not plan it.
const RequestTime Feature = "AdmissionPolicyRequestTime"

// Causes lists every denial of a request in the causes of the response, each with the field to
// which spec.validations[].fieldPath or the scope of the validation leads (alpha). No KEP plans it.
const Causes Feature = "AdmissionPolicyCauses"

// ExpressionScopes lets validations be evaluated for each value of a type, or at a path, as
// spec.validations[].scope says (KEP-3488, phase 2). It is alpha.
const ExpressionScopes Feature = "AdmissionPolicyExpressionScopes"

// Features is the set of enabled features. Nil means that none is enabled. A field that needs a
// disabled feature is ignored.
type Features map[Feature]bool

// FeaturesOf returns the features that are enabled in gates.
func FeaturesOf(gates interface{ Enabled(Feature) bool }) Features {
	features := Features{}
	for _, f := range []Feature{Singleton, ValidationFailurePolicy, FallbackBinding, MutatingSingleton, MutatingFallbackBinding, TypeEnforcement, InlineExpressions, Lookups, RequestTime, Causes, ExpressionScopes} {
		features[f] = gates.Enabled(f)
	}
	return features
}

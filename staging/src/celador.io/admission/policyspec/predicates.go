// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import v1 "celador.io/api/admissionregistration/v1"

// IsSingleton reports whether a policy with this spec.policyType applies without a binding, if
// feature Singleton or MutatingSingleton is enabled.
func IsSingleton(policyType *v1.PolicyType) bool {
	return policyType != nil && *policyType == v1.SingletonPolicy
}

// IsEnforced reports whether type errors keep a policy with this spec.typeChecking from deciding,
// if feature TypeEnforcement is enabled.
func IsEnforced(mode *v1.TypeCheckingMode) bool {
	return mode != nil && *mode == v1.EnforcedTypeChecking
}

// IsFallback reports whether a binding with this spec.bindingType applies only where no other
// binding of its policy does, if feature FallbackBinding or MutatingFallbackBinding is enabled.
func IsFallback(bindingType *v1.BindingType) bool {
	return bindingType != nil && *bindingType == v1.FallbackBinding
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import v1 "celador.io/api/admissionregistration/v1"

// IsSingleton reports whether the policy applies without a binding, if feature Singleton is
// enabled.
func IsSingleton(spec *v1.ValidatingAdmissionPolicySpec) bool {
	return spec.PolicyType != nil && *spec.PolicyType == v1.SingletonPolicy
}

// IsEnforced reports whether type errors keep a policy with this spec.typeChecking from deciding,
// if feature TypeEnforcement is enabled.
func IsEnforced(mode *v1.TypeCheckingMode) bool {
	return mode != nil && *mode == v1.EnforcedTypeChecking
}

// IsFallback reports whether the binding applies only where no other binding of its policy does,
// if feature FallbackBinding is enabled.
func IsFallback(spec *v1.ValidatingAdmissionPolicyBindingSpec) bool {
	return spec.BindingType != nil && *spec.BindingType == v1.FallbackBinding
}

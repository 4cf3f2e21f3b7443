// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

// Features are the optional parts of the API. A policy or binding that uses one that
// is off is treated as if the field were not set.
type Features struct {
	// Singleton lets policies of policyType Singleton apply without a binding.
	Singleton bool
	// ValidationFailurePolicy lets a validation override the policy's failurePolicy.
	ValidationFailurePolicy bool
	// FallbackBinding keeps bindings of bindingType Fallback from applying where
	// another binding of the policy does.
	FallbackBinding bool
	// TypeEnforcement lets policies of typeChecking Enforced decide only if they may
	// according to Store.SetVerdict.
	TypeEnforcement bool
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

// Features are the optional parts of the API. A mutation that uses one that is off is
// treated as if the field were not set.
type Features struct {
	// InlineExpressions is what KEP-3775 has and Kubernetes does not: mutations with an
	// expression, condition, message, reason or reinvocationPolicy of their own, merge
	// patches, and the guard against mutations that never settle.
	InlineExpressions bool
	// TypeEnforcement lets policies of typeChecking Enforced decide only if they may
	// according to Store.SetVerdict.
	TypeEnforcement bool
}

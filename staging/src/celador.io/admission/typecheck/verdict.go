// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import "k8s.io/apimachinery/pkg/types"

// A VerdictStore receives the verdicts on policies of one kind. A verdict is an error or nil, and
// tells the engine whether one generation of an Enforced policy may decide. The stores of packages
// validating and mutating implement VerdictStore.
//
// Implementations do not block and are safe for concurrent use. Calls about one policy must be in
// the order of the checks.
type VerdictStore interface {
	// SetVerdict sets the verdict on a generation of the policy with the given name and UID. With
	// a nil error, the policy decides as written. With any other, the requests that the policy
	// matches fail with that error, subject to the policy's failurePolicy. The verdict also holds
	// for later generations until they have one of their own, and for another spec of the same
	// generation until the next call. It may arrive before the policy.
	SetVerdict(name string, uid types.UID, generation int64, err error)
	// ForgetVerdict drops a verdict whose policy has not arrived. It is called when the policy is
	// deleted, after which no verdict on it follows.
	ForgetVerdict(name string)
}

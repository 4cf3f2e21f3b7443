// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import "k8s.io/apimachinery/pkg/types"

// Listener is told what the check of a policy found on this server, before any write of a
// status and whether or not there is one.
type Listener interface {
	// PolicyChecked is called after each check. The error is nil when all expressions
	// compile and fit the types that are known, custom resources included, or has() sees to
	// that. Otherwise it says which do not. The kind is a name as in manifests. Calls for one
	// policy are in order. It must not block.
	PolicyChecked(kind, name string, uid types.UID, generation int64, err error)
	// PolicyGone is called when there is no policy of that name any more, in order with
	// the calls for the policy that was. It must not block.
	PolicyGone(kind, name string)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

// Annotation is an audit annotation of a request.
type Annotation struct {
	// Key is the full key: for the annotation of a policy, the policy's name, a slash and
	// spec.auditAnnotations[].key.
	Key   string
	Value string
}

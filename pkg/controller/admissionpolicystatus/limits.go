// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
)

// How long texts may be, in bytes.
const (
	// maxMessage is for the message of a condition, and maxNote for the note of an event.
	maxMessage = 32 << 10
	maxNote    = 1 << 10
	// maxError is for what listeners are told. Clients get to see it.
	maxError = 2 << 10
	// maxWarnings is for all warnings together: a policy has to fit into etcd with its status.
	// None of them is cut to less than minWarning.
	maxWarnings = 256 << 10
	minWarning  = 64
)

// cut returns the text, or the beginning of it and a hint if it is longer than limit.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const hint = " ..."
	return strings.ToValidUTF8(text[:limit-len(hint)], "") + hint
}

// limited returns the warnings, which are cut if they are too long. It is not nil.
func limited(warnings []v1.ExpressionWarning) []v1.ExpressionWarning {
	size := 0
	for _, warning := range warnings {
		size += len(warning.Warning)
	}
	within := []v1.ExpressionWarning{}
	for _, warning := range warnings {
		if size > maxWarnings {
			warning.Warning = cut(warning.Warning, max(maxWarnings/len(warnings), minWarning))
		}
		within = append(within, warning)
	}
	return within
}

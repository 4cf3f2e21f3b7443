// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

// A difference is a wanted difference between Celador and Kubernetes. The tests fail on any other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the only reason for two different answers.
	explains func(r request, theirs, ours answer) bool
}

// differences are the wanted differences.
var differences = []difference{}

// explain returns the name of the wanted difference between two answers, or an empty string.
func explain(r request, theirs, ours answer) string {
	for _, d := range differences {
		if d.explains(r, theirs, ours) {
			return d.name
		}
	}
	return ""
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

// Objects returns the names of the manifests of a suite.
func (t *Test) Objects() []string {
	var names []string
	for _, o := range t.objects {
		names = append(names, o.content.GetName())
	}
	return names
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import "slices"

const statusProperty = "status"

// crossing returns why a rule is not allowed in a version with a status subresource, or "". A
// request writes either the status or everything else. Rules run on the whole request; then the
// server replaces the other half by that of the stored object. So a rule that sets a field in one
// half must not read the other one: it would read what the client sent there, which is not stored.
// Every rule may read apiVersion, kind and the names in metadata, which are the same in both
// halves.
func crossing(r *rule) string {
	if r.scope.parent != nil {
		return ""
	}
	const advice = ". Move one of the fields, or let the controller set this one"
	if r.field[0].Name != statusProperty {
		if r.readsAll || slices.Contains(r.reads, statusProperty) {
			return "the version has a status subresource, so requests that write " + r.field.String() + " cannot set the status: the rule would read a status that is ignored. It must not read self.status, nor self as a whole" + advice
		}
		return ""
	}
	shared := []string{statusProperty, "apiVersion", "kind", "metadata"}
	if r.readsAll || slices.ContainsFunc(r.reads, func(name string) bool { return !slices.Contains(shared, name) }) {
		return "the version has a status subresource, so requests that write " + r.field.String() + " can set nothing but the status: the rule would read values that are ignored. It must read only self.status, self.metadata, self.apiVersion and self.kind" + advice
	}
	return ""
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var resources = []string{
	"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
}

// Resources returns the names of the resources of policies and bindings. The caller owns the
// result.
func Resources() []string { return slices.Clone(resources) }

// IsExempt reports whether a resource is one of policies or bindings. Policies of the API do not
// apply to requests for them, so that clients can always delete a policy that denies everything.
func IsExempt(resource schema.GroupResource) bool {
	// Requests are mostly for other groups, so the group is compared first.
	return resource.Group == v1.GroupName && slices.Contains(resources, resource.Resource)
}

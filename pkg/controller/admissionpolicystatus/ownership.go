// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FieldManager owns what the controller writes, on all servers and in all versions.
const FieldManager = "admission-policy-status"

var warningsPath = fieldpath.MakePathOrDie("status", "typeChecking", "expressionWarnings")

// taken tells whether somebody else owns the warnings and the controller does not. A status
// controller of Kubernetes that looks at a policy at the same time replaces them by its own,
// once for each generation of a policy.
func taken(p *policy) bool {
	others := false
	for _, entry := range p.ManagedFields {
		if entry.FieldsV1 == nil {
			continue
		}
		var owned fieldpath.Set
		if err := owned.FromJSON(entry.FieldsV1.GetRawReader()); err != nil || !owned.Has(warningsPath) {
			continue
		}
		if entry.Manager == FieldManager {
			return false
		}
		others = true
	}
	return others
}

// compact drops from policies what nobody here reads, for memory.
func compact(object any) (any, error) {
	if policy, ok := object.(metav1.Object); ok {
		policy.SetLabels(nil)
		policy.SetAnnotations(nil)
		policy.SetManagedFields(slices.DeleteFunc(policy.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Subresource != "status"
		}))
	}
	return object, nil
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/matching"
)

// binding is a compiled ValidatingAdmissionPolicyBinding. Immutable.
type binding struct {
	name       string
	policyName string
	actions    []v1.ValidationAction
	// criteria are nil when the binding does not narrow what the policy matches.
	criteria *matching.Criteria
}

// compileBinding refers to b, which must not change any more.
func compileBinding(b *v1.ValidatingAdmissionPolicyBinding) *binding {
	result := &binding{name: b.Name, policyName: b.Spec.PolicyName, actions: b.Spec.ValidationActions}
	if b.Spec.MatchResources != nil {
		result.criteria = matching.Compile(b.Spec.MatchResources)
	}
	return result
}

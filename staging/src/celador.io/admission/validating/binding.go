// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// binding is a compiled ValidatingAdmissionPolicyBinding. Immutable.
type binding struct {
	name       string
	policyName string
	actions    []v1.ValidationAction
	// criteria are nil when the binding does not narrow what the policy matches.
	criteria *matching.Criteria
	// params is nil when the binding refers to none.
	params *params.Ref
	// fallback is set when the binding gives way to others.
	fallback bool
}

// unbound stands in for the binding of a policy that needs none.
var unbound = &binding{actions: denyOnly}

// compileBinding refers to b, which must not change any more.
func compileBinding(features Features, b *v1.ValidatingAdmissionPolicyBinding) *binding {
	result := &binding{name: b.Name, policyName: b.Spec.PolicyName, actions: b.Spec.ValidationActions}
	result.fallback = features.FallbackBinding && b.Spec.BindingType != nil && *b.Spec.BindingType == v1.FallbackBinding
	if b.Spec.ParamRef != nil {
		result.params = params.Compile(b.Spec.ParamRef)
	}
	if b.Spec.MatchResources != nil {
		result.criteria = matching.Compile(b.Spec.MatchResources)
	}
	return result
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"slices"
	"unique"
	"weak"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/intern"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// binding is a compiled ValidatingAdmissionPolicyBinding. Immutable.
type binding struct {
	name       string
	policyName unique.Handle[string]
	*terms
}

// terms are what a binding says of its policy's use. Many bindings say the same.
type terms struct {
	actions []v1.ValidationAction
	// criteria are nil when the binding does not narrow what the policy matches.
	criteria *matching.Criteria
	// params is nil when the binding refers to none.
	params *params.Ref
	// fallback is set when the binding gives way to others.
	fallback bool
}

// Name implements matching.Item.
func (b *binding) Name() string { return b.name }

// Criteria implements matching.Item.
func (b *binding) Criteria() *matching.Criteria { return b.criteria }

// unbound stands in for the binding of a policy that needs none.
var unbound = &binding{terms: &terms{actions: denyOnly}}

// bindingCompiler compiles bindings. Those with the same match resources, not only
// equal ones, share what becomes of them. Safe for concurrent use.
type bindingCompiler struct {
	features Features
	pool     intern.Pool[weak.Pointer[v1.MatchResources], terms]
}

// compile refers to b, which must not change any more.
func (c *bindingCompiler) compile(b *v1.ValidatingAdmissionPolicyBinding) *binding {
	match := b.Spec.MatchResources
	fallback := c.features.FallbackBinding && b.Spec.BindingType != nil && *b.Spec.BindingType == v1.FallbackBinding
	with := func(criteria *matching.Criteria) *terms {
		t := &terms{actions: b.Spec.ValidationActions, criteria: criteria, fallback: fallback}
		if b.Spec.ParamRef != nil {
			t.params = params.Compile(b.Spec.ParamRef)
		}
		return t
	}
	shared := c.pool.Get(weak.Make(match), func() *terms {
		if match == nil {
			return with(nil)
		}
		return with(matching.Compile(match))
	})
	if shared.fallback != fallback || shared.paramRef() != b.Spec.ParamRef || !slices.Equal(shared.actions, b.Spec.ValidationActions) {
		shared = with(shared.criteria)
	}
	return &binding{b.Name, unique.Make(b.Spec.PolicyName), shared}
}

func (t *terms) paramRef() *v1.ParamRef {
	if t.params == nil {
		return nil
	}
	return t.params.ParamRef
}

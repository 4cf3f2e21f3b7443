// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"unique"
	"weak"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/intern"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// BindingDefinition is what the API object of a binding says, whatever its kind. It must
// not change any more.
type BindingDefinition struct {
	Name           string
	PolicyName     string
	ParamRef       *v1.ParamRef
	MatchResources *v1.MatchResources
	// Actions are those of kinds whose bindings have any.
	Actions []v1.ValidationAction
	// Fallback is set when the binding gives way to others.
	Fallback bool
}

// Binding is a compiled binding. Immutable.
type Binding struct {
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
func (b *Binding) Name() string { return b.name }

// Criteria implements matching.Item.
func (b *Binding) Criteria() *matching.Criteria { return b.criteria }

// Actions returns those that the binding asks for: Deny for a policy that needs no binding.
func (b *Binding) Actions() []v1.ValidationAction { return b.actions }

// unbound stands in for the binding of a policy that needs none.
var unbound = &Binding{terms: &terms{actions: []v1.ValidationAction{v1.Deny}}}

// bindingCompiler compiles bindings. Those with the same match resources, not only
// equal ones, share what becomes of them. Safe for concurrent use.
type bindingCompiler struct {
	pool intern.Pool[weak.Pointer[v1.MatchResources], terms]
}

func (c *bindingCompiler) compile(b BindingDefinition) *Binding {
	match := b.MatchResources
	with := func(criteria *matching.Criteria) *terms {
		t := &terms{actions: b.Actions, criteria: criteria, fallback: b.Fallback}
		if b.ParamRef != nil {
			t.params = params.Compile(b.ParamRef)
		}
		return t
	}
	shared := c.pool.Get(weak.Make(match), func() *terms {
		if match == nil {
			return with(nil)
		}
		return with(matching.Compile(match))
	})
	if shared.fallback != b.Fallback || shared.paramRef() != b.ParamRef || !slices.Equal(shared.actions, b.Actions) {
		shared = with(shared.criteria)
	}
	return &Binding{b.Name, unique.Make(b.PolicyName), shared}
}

func (t *terms) paramRef() *v1.ParamRef {
	if t.params == nil {
		return nil
	}
	return t.params.ParamRef
}

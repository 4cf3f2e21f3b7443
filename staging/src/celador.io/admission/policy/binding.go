// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"unique"
	"weak"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/cel/intern"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// BindingSpec is the spec of a binding of any kind. It must not be changed once it was compiled.
type BindingSpec struct {
	PolicyName     string
	ParamRef       *v1.ParamRef
	MatchResources *v1.MatchResources
	// Actions is nil for kinds without validationActions.
	Actions []v1.ValidationAction
	// Fallback is set if the binding applies to a request only if no other binding of its policy
	// does.
	Fallback bool
}

// Binding is a compiled binding. Immutable.
type Binding struct {
	name       string
	policyName unique.Handle[string]
	*terms
}

// terms is the part of a binding's spec that many bindings share.
type terms struct {
	actions []v1.ValidationAction
	// criteria is nil if the binding does not narrow the match constraints of its policy. It is
	// compiled from resources, by which bindings that arrive later find the terms.
	criteria  *matching.Criteria
	resources *v1.MatchResources
	// params is nil if the binding has no paramRef.
	params *params.Ref
	// fallback is set if the binding applies to a request only if no other binding of its policy
	// does.
	fallback bool
}

// Name implements matching.Item.
func (b *Binding) Name() string { return b.name }

// Criteria implements matching.Item.
func (b *Binding) Criteria() *matching.Criteria { return b.criteria }

// Actions returns the validationActions of the binding. They are Deny for a Singleton. The slice
// must not be changed.
func (b *Binding) Actions() []v1.ValidationAction { return b.actions }

// unbound is the binding of Singletons.
var unbound = &Binding{terms: &terms{actions: []v1.ValidationAction{v1.Deny}}}

// bindingCompiler compiles bindings. Bindings with the identical match resources share their terms.
// Safe for concurrent use.
type bindingCompiler struct {
	pool intern.Pool[weak.Pointer[v1.MatchResources], terms]
}

func (c *bindingCompiler) compile(name string, b BindingSpec) Binding {
	match := b.MatchResources
	with := func(criteria *matching.Criteria) *terms {
		t := &terms{actions: b.Actions, criteria: criteria, resources: match, fallback: b.Fallback}
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
	return Binding{name, unique.Make(b.PolicyName), shared}
}

func (t *terms) paramRef() *v1.ParamRef {
	if t.params == nil {
		return nil
	}
	return t.params.ParamRef
}

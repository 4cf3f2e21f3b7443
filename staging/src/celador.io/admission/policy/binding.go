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

// terms is the part of a binding that many bindings share.
type terms struct {
	// spec is the spec of the binding without PolicyName.
	spec BindingSpec
	// criteria holds the compiled matchResources. It is nil if the binding has none, and so does
	// not narrow the match constraints of its policy. spec keeps the matchResources themselves in
	// memory, because bindingCompiler shares the terms of bindings whose matchResources have the
	// same address.
	criteria *matching.Criteria
	// params is nil if the binding has no paramRef.
	params *params.Ref
}

// Name implements matching.Item.
func (b *Binding) Name() string { return b.name }

// Criteria implements matching.Item.
func (b *Binding) Criteria() *matching.Criteria { return b.criteria }

// Actions returns the validationActions of the binding. They are Deny for a Singleton. The slice
// must not be changed.
func (b *Binding) Actions() []v1.ValidationAction { return b.spec.Actions }

// unbound stands for the binding of a Singleton, which has none.
var unbound = &Binding{terms: &terms{spec: BindingSpec{Actions: []v1.ValidationAction{v1.Deny}}}}

// bindingCompiler compiles bindings. To save memory, bindings that refer to the same MatchResources
// object share its criteria, and all of their compiled spec if the rest of it is the same, too.
// Safe for concurrent use.
type bindingCompiler struct {
	pool intern.Pool[weak.Pointer[v1.MatchResources], terms]
}

func (c *bindingCompiler) compile(name string, spec BindingSpec) Binding {
	policyName := unique.Make(spec.PolicyName)
	spec.PolicyName = ""
	with := func(criteria *matching.Criteria) *terms {
		t := &terms{spec: spec, criteria: criteria}
		if spec.ParamRef != nil {
			t.params = params.Compile(spec.ParamRef)
		}
		return t
	}
	shared := c.pool.Get(weak.Make(spec.MatchResources), func() *terms {
		if spec.MatchResources == nil {
			return with(nil)
		}
		return with(matching.Compile(spec.MatchResources))
	})
	if s := &shared.spec; s.Fallback != spec.Fallback || s.ParamRef != spec.ParamRef || !slices.Equal(s.Actions, spec.Actions) {
		shared = with(shared.criteria)
	}
	return Binding{name, policyName, shared}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/expression"
	"celador.io/admission/params"
	"celador.io/admission/policy"
)

// Store keeps policies and bindings compiled and up to date. Changes are in the next
// Snapshot when the method that makes them returns. Safe for concurrent use; taking a
// snapshot never waits for a change.
type Store struct {
	*policy.Store[body]
	compiler *expression.Compiler
	features Features
}

// Snapshot is the set of policies in effect at one time, with their bindings.
// Immutable, so safe for concurrent use.
type Snapshot = policy.Snapshot[body]

// NewStore returns an empty store that compiles with the given compiler. It opens the
// paramKinds of the policies in effect, and closes them when no policy needs them.
func NewStore(compiler *expression.Compiler, features Features, source params.Source) *Store {
	return &Store{policy.NewStore[body](source, features.TypeEnforcement), compiler, features}
}

// SetPolicy adds a policy or replaces the one of the same name. The policy must not
// change any more. One with wrong expressions is taken, too: the requests it matches
// are subject to its failurePolicy.
func (s *Store) SetPolicy(p *v1.MutatingAdmissionPolicy) { s.Compile(p)() }

// Compile compiles a policy without changing the store, and returns a function that adds or
// replaces the policy as SetPolicy does. Compiling takes almost all of the time of SetPolicy.
// Call put at most once; a policy whose put is never called has no effect. p must not be
// changed afterwards. Compile is safe for concurrent use.
func (s *Store) Compile(p *v1.MutatingAdmissionPolicy) (put func()) {
	compiled := compile(s.compiler, s.features, p)
	return func() { s.Store.SetPolicy(compiled) }
}

// SetBinding adds a binding or replaces the one of the same name. The binding must not
// change any more. It has no effect until its policy is there.
func (s *Store) SetBinding(b *v1.MutatingAdmissionPolicyBinding) {
	s.Store.SetBinding(policy.BindingDefinition{
		Name:           b.Name,
		PolicyName:     b.Spec.PolicyName,
		ParamRef:       b.Spec.ParamRef,
		MatchResources: b.Spec.MatchResources,
	})
}

// NewSnapshot returns the given policies with the given bindings, for a set that does
// not change. Requests that match a policy with a paramKind are subject to its
// failurePolicy, as there is nowhere to find params. There are no verdicts either: feature
// TypeEnforcement is taken for off.
func NewSnapshot(compiler *expression.Compiler, features Features, policies []*v1.MutatingAdmissionPolicy, bindings []*v1.MutatingAdmissionPolicyBinding) *Snapshot {
	features.TypeEnforcement = false
	store := NewStore(compiler, features, nil)
	for _, b := range bindings {
		store.SetBinding(b)
	}
	for _, p := range policies {
		store.SetPolicy(p)
	}
	return store.Snapshot()
}

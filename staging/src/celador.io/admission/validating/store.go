// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/expression"
	"celador.io/admission/params"
)

// Store keeps policies and bindings compiled and up to date. Changes are in the next
// Snapshot when the method that makes them returns. Safe for concurrent use; taking a
// snapshot never waits for a change.
type Store struct {
	compiler *expression.Compiler
	features Features
	params   params.Source
	snapshot atomic.Pointer[Snapshot]

	lock     sync.Mutex
	policies map[string]*policy
	bindings map[string]*binding
	// byPolicy holds the bindings of each policy, sorted by name. Slices are replaced,
	// never changed, as snapshots share them.
	byPolicy map[string][]*binding
}

// NewStore returns an empty store that compiles with the given compiler. It opens the
// paramKinds of the policies in effect, and closes them when no policy needs them.
func NewStore(compiler *expression.Compiler, features Features, source params.Source) *Store {
	s := &Store{
		compiler: compiler,
		features: features,
		params:   source,
		policies: map[string]*policy{},
		bindings: map[string]*binding{},
		byPolicy: map[string][]*binding{},
	}
	s.snapshot.Store(newSnapshot(nil))
	return s
}

// Snapshot returns the policies and bindings in effect now.
func (s *Store) Snapshot() *Snapshot { return s.snapshot.Load() }

// SetPolicy adds a policy or replaces the one of the same name. The policy must not
// change any more. One with wrong expressions is taken, too: the requests it matches
// are subject to its failurePolicy.
func (s *Store) SetPolicy(p *v1.ValidatingAdmissionPolicy) {
	compiled := compilePolicy(s.compiler, s.features, p)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.policies[p.Name] = compiled
	s.publish(p.Name)
}

// DeletePolicy removes the policy of that name, if there is one.
func (s *Store) DeletePolicy(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.policies, name)
	s.publish(name)
}

// SetBinding adds a binding or replaces the one of the same name. The binding must not
// change any more. It has no effect until its policy is there.
func (s *Store) SetBinding(b *v1.ValidatingAdmissionPolicyBinding) {
	compiled := compileBinding(s.features, b)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.unbind(b.Name)
	s.bindings[b.Name] = compiled
	bound := s.byPolicy[compiled.policyName]
	at, _ := slices.BinarySearchFunc(bound, compiled.name, func(b *binding, name string) int { return strings.Compare(b.name, name) })
	s.byPolicy[compiled.policyName] = slices.Insert(slices.Clone(bound), at, compiled)
	s.publish(compiled.policyName)
}

// DeleteBinding removes the binding of that name, if there is one.
func (s *Store) DeleteBinding(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.unbind(name)
}

func (s *Store) unbind(name string) {
	old, ok := s.bindings[name]
	if !ok {
		return
	}
	delete(s.bindings, name)
	rest := slices.DeleteFunc(slices.Clone(s.byPolicy[old.policyName]), func(b *binding) bool { return b == old })
	if s.byPolicy[old.policyName] = rest; len(rest) == 0 {
		delete(s.byPolicy, old.policyName)
	}
	s.publish(old.policyName)
}

// publish puts the current state of one policy into a new snapshot.
func (s *Store) publish(name string) {
	policies := slices.Clone(s.Snapshot().policies)
	at, found := slices.BinarySearchFunc(policies, name, func(p boundPolicy, name string) int { return strings.Compare(p.name, name) })
	var old, current boundPolicy
	if found {
		old = policies[at]
	}
	inEffect := s.policies[name].inEffect(s.byPolicy[name])
	if inEffect {
		current = bind(s.policies[name], s.byPolicy[name])
		s.open(&current, &old)
	}
	switch {
	case inEffect && found:
		policies[at] = current
	case inEffect:
		policies = slices.Insert(policies, at, current)
	case found:
		policies = slices.Delete(policies, at, at+1)
	default:
		return
	}
	s.snapshot.Store(newSnapshot(policies))
	if old.params != nil {
		old.params.Close()
	}
}

// open gives the current state of a policy access to its params, or moves that access
// over from the old state.
func (s *Store) open(current, old *boundPolicy) {
	switch kind := current.paramKind; {
	case kind == nil || s.params == nil:
	case old.params != nil && old.paramKind.GroupVersionKind == kind.GroupVersionKind:
		current.params, old.params = old.params, nil
	default:
		current.params = s.params.Open(kind.GroupVersionKind)
	}
}

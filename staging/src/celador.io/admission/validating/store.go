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
	binder   bindingCompiler
	snapshot atomic.Pointer[Snapshot]

	lock     sync.Mutex
	policies map[string]*policy
	// verdicts are those whose policies are still to come.
	verdicts map[string]*verdict
	bindings map[string]*binding
	// byPolicy holds the bindings of each policy that has any.
	byPolicy map[string]*bindings
}

// NewStore returns an empty store that compiles with the given compiler. It opens the
// paramKinds of the policies in effect, and closes them when no policy needs them.
func NewStore(compiler *expression.Compiler, features Features, source params.Source) *Store {
	s := &Store{
		compiler: compiler,
		features: features,
		binder:   bindingCompiler{features: features},
		params:   source,
		policies: map[string]*policy{},
		verdicts: map[string]*verdict{},
		bindings: map[string]*binding{},
		byPolicy: map[string]*bindings{},
	}
	s.snapshot.Store(&Snapshot{index: newIndex(nil)})
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
	compiled.verdict = s.latestVerdict(compiled)
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
	compiled := s.binder.compile(b)
	policy := compiled.policyName.Value()
	s.lock.Lock()
	defer s.lock.Unlock()
	changed := []string{policy}
	if old, ok := s.bindings[b.Name]; ok && old.policyName != compiled.policyName {
		changed = append(changed, s.unbind(old))
	}
	s.bindings[b.Name] = compiled
	s.byPolicy[policy] = s.byPolicy[policy].with(compiled)
	s.publish(changed...)
}

// DeleteBinding removes the binding of that name, if there is one.
func (s *Store) DeleteBinding(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if old, ok := s.bindings[name]; ok {
		delete(s.bindings, name)
		s.publish(s.unbind(old))
	}
}

// unbind takes a binding from its policy, and returns the name of that.
func (s *Store) unbind(b *binding) string {
	policy := b.policyName.Value()
	if rest := s.byPolicy[policy].without(b.name); rest == nil {
		delete(s.byPolicy, policy)
	} else {
		s.byPolicy[policy] = rest
	}
	return policy
}

// publish puts the current state of some policies into a new snapshot, all at once.
func (s *Store) publish(names ...string) {
	policies, index := slices.Clone(s.Snapshot().policies), s.Snapshot().index
	var unused []params.Kind
	for _, name := range names {
		var old *boundPolicy
		at, found := slices.BinarySearchFunc(policies, name, func(p *boundPolicy, name string) int { return strings.Compare(p.name, name) })
		if found {
			old = policies[at]
			policies = slices.Delete(policies, at, at+1)
		}
		current := bind(s.policies[name], s.byPolicy[name])
		if current != nil {
			policies = slices.Insert(policies, at, current)
		}
		if !sameCriteria(old, current) {
			index = nil
		}
		if kind := s.open(current, old); kind != nil {
			unused = append(unused, kind)
		}
	}
	if index == nil {
		index = newIndex(policies)
	}
	s.snapshot.Store(&Snapshot{policies, index})
	for _, kind := range unused {
		kind.Close()
	}
}

// open gives the current state of a policy access to its params: the old state's, if
// that will do, else the old one is returned. Either state may be nil.
func (s *Store) open(current, old *boundPolicy) (unused params.Kind) {
	if old != nil {
		unused = old.params
	}
	switch {
	case current == nil || current.paramKind == nil || s.params == nil:
	case unused != nil && old.paramKind.GroupVersionKind == current.paramKind.GroupVersionKind:
		current.params, unused = unused, nil
	default:
		current.params = s.params.Open(current.paramKind.GroupVersionKind)
	}
	return unused
}

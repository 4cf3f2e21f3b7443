// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"celador.io/admission/params"
)

// Store keeps policies and bindings compiled and up to date. Changes are in the next
// Snapshot when the method that makes them returns. Safe for concurrent use; taking a
// snapshot never waits for a change.
type Store[B any] struct {
	params   params.Source
	binder   bindingCompiler
	snapshot atomic.Pointer[Snapshot[B]]

	lock     sync.Mutex
	policies map[string]*Policy[B]
	// verdicts are those whose policies are still to come. Nil if verdicts do not count.
	verdicts map[string]*verdict
	bindings map[string]*Binding
	// byPolicy holds the bindings of each policy that has any.
	byPolicy map[string]*bindings
}

// NewStore returns an empty store. It opens the paramKinds of the policies in effect, and
// closes them when no policy needs them. Without a source, requests that match a policy
// with a paramKind are subject to its failurePolicy. Unless types are enforced, verdicts are
// dropped.
func NewStore[B any](source params.Source, enforceTypes bool) *Store[B] {
	s := &Store[B]{
		params:   source,
		policies: map[string]*Policy[B]{},
		bindings: map[string]*Binding{},
		byPolicy: map[string]*bindings{},
	}
	if enforceTypes {
		s.verdicts = map[string]*verdict{}
	}
	s.snapshot.Store(&Snapshot[B]{index: newIndex[B](nil)})
	return s
}

// Snapshot returns the policies and bindings in effect now.
func (s *Store[B]) Snapshot() *Snapshot[B] { return s.snapshot.Load() }

// SetPolicy adds a policy or replaces the one of the same name. One with wrong expressions
// is taken, too: the requests it matches are subject to its failurePolicy.
func (s *Store[B]) SetPolicy(compiled *Policy[B]) {
	s.lock.Lock()
	defer s.lock.Unlock()
	// No one else has seen this policy yet.
	compiled.verdict = s.latestVerdict(compiled)
	s.policies[compiled.Name] = compiled
	s.publish(compiled.Name)
}

// DeletePolicy removes the policy of that name, if there is one.
func (s *Store[B]) DeletePolicy(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.policies, name)
	s.publish(name)
}

// SetBinding adds a binding or replaces the one of the same name. It has no effect until
// its policy is there.
func (s *Store[B]) SetBinding(b BindingDefinition) {
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
func (s *Store[B]) DeleteBinding(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if old, ok := s.bindings[name]; ok {
		delete(s.bindings, name)
		s.publish(s.unbind(old))
	}
}

// unbind takes a binding from its policy, and returns the name of that.
func (s *Store[B]) unbind(b *Binding) string {
	policy := b.policyName.Value()
	if rest := s.byPolicy[policy].without(b.name); rest == nil {
		delete(s.byPolicy, policy)
	} else {
		s.byPolicy[policy] = rest
	}
	return policy
}

// publish puts the current state of some policies into a new snapshot, all at once.
func (s *Store[B]) publish(names ...string) {
	policies, index := slices.Clone(s.Snapshot().policies), s.Snapshot().index
	var unused []params.Kind
	for _, name := range names {
		var old *boundPolicy[B]
		at, found := slices.BinarySearchFunc(policies, name, func(p *boundPolicy[B], name string) int { return strings.Compare(p.Name, name) })
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
	s.snapshot.Store(&Snapshot[B]{policies, index})
	for _, kind := range unused {
		kind.Close()
	}
}

// open gives the current state of a policy access to its params: the old state's, if
// that will do, else the old one is returned. Either state may be nil.
func (s *Store[B]) open(current, old *boundPolicy[B]) (unused params.Kind) {
	if old != nil {
		unused = old.params
	}
	switch {
	case current == nil || current.ParamKind == nil || s.params == nil:
	case unused != nil && old.ParamKind.GroupVersionKind == current.ParamKind.GroupVersionKind:
		current.params, unused = unused, nil
	default:
		current.params = s.params.Open(current.ParamKind.GroupVersionKind)
	}
	return unused
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/cel/intern"
	"celador.io/admission/lookups"
	"celador.io/admission/matching"
	"celador.io/admission/params"
	"celador.io/admission/policyspec"
)

// Descriptor converts the policies and bindings of one kind to the form that is common to all
// kinds. Its functions are safe for concurrent use, and may keep references to the objects, which
// must not be changed afterwards.
type Descriptor[PolicyObject, BindingObject APIObject, Body any] struct {
	// Policy returns the policy of an object. It does not compile the policy.
	Policy func(PolicyObject) *Policy[Body]
	// Binding returns the spec of a binding in the form that is common to all kinds.
	Binding func(BindingObject) BindingSpec
}

// Store holds policies and bindings, and publishes Snapshots of them. When a method that changes
// the store returns, the method Snapshot returns one with the change, unless Hold delays the
// publication. Safe for concurrent use. Snapshot never waits for a change.
type Store[PolicyObject, BindingObject APIObject, Body any] struct {
	descriptor Descriptor[PolicyObject, BindingObject, Body]
	params     params.Source
	lookups    lookups.Source
	criteria   intern.Pool[weak.Pointer[v1.MatchResources], matching.Criteria]
	binder     bindingCompiler
	snapshot   atomic.Pointer[Snapshot[Body]]

	lock sync.Mutex
	// held is set from Hold until its release: changes are not published meanwhile.
	held     bool
	policies map[string]*Policy[Body]
	// verdicts holds, by policy name, the verdicts on policies or generations that are not stored
	// yet. It is nil if verdicts are ignored.
	verdicts map[string]*verdict
	bindings map[string]*Binding
	// byPolicy holds the bindings of each policy that has any.
	byPolicy map[string]*bindings
	// followed reports for each informer of Follow whether it has synced.
	followed []func() bool
}

// NewStore returns an empty store. It opens a handle in source for the paramKind of each policy in
// effect, and one in lookups for each of its lookups, and closes them when the policy no longer
// needs them. Without a source, policies with a paramKind fail the requests that they match; without
// lookups, expressions that read a lookup fail. Verdicts are ignored unless enforceTypes is set.
func NewStore[PolicyObject, BindingObject APIObject, Body any](descriptor Descriptor[PolicyObject, BindingObject, Body], source params.Source, lookups lookups.Source, enforceTypes bool) *Store[PolicyObject, BindingObject, Body] {
	s := &Store[PolicyObject, BindingObject, Body]{
		descriptor: descriptor,
		params:     source,
		lookups:    lookups,
		policies:   map[string]*Policy[Body]{},
		bindings:   map[string]*Binding{},
		byPolicy:   map[string]*bindings{},
	}
	if enforceTypes {
		s.verdicts = map[string]*verdict{}
	}
	s.snapshot.Store(&Snapshot[Body]{index: newIndex[Body](nil)})
	return s
}

// Snapshot returns the policies and bindings that are in effect now.
func (s *Store[PolicyObject, BindingObject, Body]) Snapshot() *Snapshot[Body] {
	return s.snapshot.Load()
}

// Hold stops the publication of changes until the caller calls release, which publishes all of
// them. To publish thousands of objects one by one takes seconds, because each snapshot has a list
// of all policies.
func (s *Store[PolicyObject, BindingObject, Body]) Hold() (release func()) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.held = true
	return func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.held = false
		names := slices.Collect(maps.Keys(s.policies))
		for _, p := range s.Snapshot().policies {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		s.publish(slices.Compact(names)...)
	}
}

// Set adds policies and bindings of version v1, or replaces those with the same names. Their Go
// types are those of celador.io/api or of k8s.io/api. For objects of other types, Set returns an
// error and changes nothing.
//
// Set compiles policies. A policy with expressions that do not compile is added, too: its
// failurePolicy decides about the requests that it matches. A binding has no effect until its
// policy is stored.
func (s *Store[PolicyObject, BindingObject, Body]) Set(objects ...runtime.Object) error {
	policies, bindings, err := policyspec.Sort[PolicyObject, BindingObject](objects)
	if err != nil {
		return err
	}
	for _, b := range bindings {
		s.setBinding(b)
	}
	for _, p := range policies {
		s.Compile(p)()
	}
	return nil
}

// Compile compiles a policy without changing the store, and returns a function that adds or
// replaces the policy as Set does. Compiling takes almost all of the time of Set, so callers may
// compile several policies at the same time. put must be called at most once. A policy whose put is
// never called has no effect.
func (s *Store[PolicyObject, BindingObject, Body]) Compile(p PolicyObject) (put func()) {
	policy := s.descriptor.Policy(p)
	policy.expressions.get()
	return func() { s.setPolicy(policy) }
}

// SetUncompiled adds or replaces a policy like Set, but leaves it to CompileAll or to the
// first request that evaluates the policy to compile it.
func (s *Store[PolicyObject, BindingObject, Body]) SetUncompiled(p PolicyObject) {
	s.setPolicy(s.descriptor.Policy(p))
}

// CompileAll compiles the policies that are in effect at the time of the call, one after the other,
// until ctx ends.
func (s *Store[PolicyObject, BindingObject, Body]) CompileAll(ctx context.Context) {
	for _, p := range s.Snapshot().policies {
		if ctx.Err() != nil {
			return
		}
		p.expressions.get()
	}
}

// afterEvaluation is how long a policy still counts as evaluated after its object was changed, if
// requests evaluated the version before the change. Such requests probably come again soon, and
// should not wait for a compilation.
const afterEvaluation = 2 * time.Second

// Evaluated reports whether requests evaluate the policy with the name: one has evaluated the
// stored version, or had evaluated a version that was replaced up to 2 seconds ago. If not, a
// caller may store a new version with SetUncompiled, and requests hardly ever wait for its
// compilation.
func (s *Store[PolicyObject, BindingObject, Body]) Evaluated(name string) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	p := s.policies[name]
	return p != nil && (p.expressions.evaluated.Load() || time.Now().Before(p.evaluatedUntil))
}

// inheritEvaluation carries over the evaluations of old, which p replaces: p counts as evaluated
// for some time if old does, and continues to count the evaluations of old.
func (p *Policy[Body]) inheritEvaluation(old *Policy[Body]) {
	if old == nil {
		return
	}
	p.evaluations = old.evaluations
	switch {
	case old.expressions.evaluated.Load():
		p.evaluatedUntil = time.Now().Add(afterEvaluation)
	default:
		p.evaluatedUntil = old.evaluatedUntil
	}
}

func (s *Store[PolicyObject, BindingObject, Body]) setPolicy(p *Policy[Body]) {
	// No other goroutine has the policy yet, so its fields may be set without the lock.
	p.criteria = s.criteria.Get(weak.Make(p.constraints), func() *matching.Criteria { return matching.Compile(p.constraints) })
	s.lock.Lock()
	defer s.lock.Unlock()
	p.enforced = p.enforced && s.verdicts != nil
	p.verdict = s.takeVerdict(p)
	p.inheritEvaluation(s.policies[p.Name])
	s.policies[p.Name] = p
	s.publish(p.Name)
}

// DeletePolicy removes the policy with the name, if there is one.
func (s *Store[PolicyObject, BindingObject, Body]) DeletePolicy(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.policies, name)
	s.publish(name)
}

func (s *Store[PolicyObject, BindingObject, Body]) setBinding(b BindingObject) {
	binding := s.binder.compile(b.GetName(), s.descriptor.Binding(b))
	compiled, policy := &binding, binding.policyName.Value()
	s.lock.Lock()
	defer s.lock.Unlock()
	changed := []string{policy}
	if old, ok := s.bindings[compiled.name]; ok && old.policyName != compiled.policyName {
		changed = append(changed, s.unbind(old))
	}
	s.bindings[compiled.name] = compiled
	s.byPolicy[policy] = s.byPolicy[policy].with(compiled)
	s.publish(changed...)
}

// DeleteBinding removes the binding with the name, if there is one.
func (s *Store[PolicyObject, BindingObject, Body]) DeleteBinding(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if old, ok := s.bindings[name]; ok {
		delete(s.bindings, name)
		s.publish(s.unbind(old))
	}
}

// unbind removes a binding from the bindings of its policy and returns the policy's name.
func (s *Store[PolicyObject, BindingObject, Body]) unbind(b *Binding) string {
	policy := b.policyName.Value()
	if rest := s.byPolicy[policy].without(b.name); rest == nil {
		delete(s.byPolicy, policy)
	} else {
		s.byPolicy[policy] = rest
	}
	return policy
}

// publish publishes a new snapshot with the current state of the named policies, unless changes are
// held.
func (s *Store[PolicyObject, BindingObject, Body]) publish(names ...string) {
	if s.held {
		return
	}
	policies, index := slices.Clone(s.Snapshot().policies), s.Snapshot().index
	var unused []closer
	for _, name := range names {
		var old *boundPolicy[Body]
		at, found := slices.BinarySearchFunc(policies, name, func(p *boundPolicy[Body], name string) int { return strings.Compare(p.Name, name) })
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
		unused = append(unused, s.open(current, old)...)
	}
	if index == nil {
		index = newIndex(policies)
	}
	s.snapshot.Store(&Snapshot[Body]{policies, index})
	for _, handle := range unused {
		handle.Close()
	}
}

// A closer is the handle of a paramKind or of a lookup.
type closer interface{ Close() }

// open sets the handles that keep the params and the looked up objects of a policy watched. It takes
// over the handle of params of old, the state that current replaces, if both have the same
// paramKind. It returns the handles of old that current does not take over, which the caller closes.
// Either state may be nil.
func (s *Store[PolicyObject, BindingObject, Body]) open(current, old *boundPolicy[Body]) (unused []closer) {
	switch {
	case current == nil || current.ParamKind == nil || s.params == nil:
	case old != nil && old.params != nil && old.ParamKind.GroupVersionKind == current.ParamKind.GroupVersionKind:
		current.params = old.params
	default:
		current.params = s.params.Open(current.ParamKind.GroupVersionKind)
	}
	if current != nil && s.lookups != nil {
		for i := range current.lookups {
			current.handles = append(current.handles, current.lookups[i].Open(s.lookups))
		}
	}
	if old == nil {
		return nil
	}
	if old.params != nil && (current == nil || current.params != old.params) {
		unused = append(unused, old.params)
	}
	for _, handle := range old.handles {
		unused = append(unused, handle)
	}
	return unused
}

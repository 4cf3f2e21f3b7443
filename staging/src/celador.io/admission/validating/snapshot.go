// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"slices"
	"sync"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/expression"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// Snapshot is the set of policies in effect at one time, with their bindings.
// Immutable, so safe for concurrent use.
type Snapshot struct {
	// policies in effect, sorted by name.
	policies []boundPolicy
	index    *matching.Index
}

func newSnapshot(policies []boundPolicy) *Snapshot {
	return &Snapshot{policies, matching.NewIndex(len(policies), func(i int) *matching.Criteria { return policies[i].criteria })}
}

// boundPolicy is a policy with all that it takes to apply it.
type boundPolicy struct {
	*policy
	// bindings apply by themselves, fallbacks when none of these does. Sorted by name.
	bindings, fallbacks []*binding
	// index is over bindings. Only built when a request needs it.
	index func() *matching.NamespaceIndex
	// params is nil without a paramKind.
	params params.Kind
}

// NewSnapshot returns the given policies with the given bindings, for a set that does
// not change. Requests that match a policy with a paramKind are subject to its
// failurePolicy, as there is nowhere to find params.
func NewSnapshot(compiler *expression.Compiler, features Features, policies []*v1.ValidatingAdmissionPolicy, bindings []*v1.ValidatingAdmissionPolicyBinding) *Snapshot {
	store := NewStore(compiler, features, nil)
	for _, b := range bindings {
		store.SetBinding(b)
	}
	for _, p := range policies {
		store.SetPolicy(p)
	}
	return store.Snapshot()
}

// inEffect says whether a policy with the given bindings has any. A singleton takes
// effect by itself and not through bindings.
func (p *policy) inEffect(bindings []*binding) bool {
	return p != nil && (p.singleton || len(bindings) > 0)
}

// bind joins a policy that is in effect with its bindings.
func bind(p *policy, bindings []*binding) boundPolicy {
	if p.singleton {
		return newBoundPolicy(p, []*binding{unbound}, nil)
	}
	if !slices.ContainsFunc(bindings, func(b *binding) bool { return b.fallback }) {
		return newBoundPolicy(p, bindings, nil)
	}
	var regular, fallbacks []*binding
	for _, b := range bindings {
		if b.fallback {
			fallbacks = append(fallbacks, b)
		} else {
			regular = append(regular, b)
		}
	}
	return newBoundPolicy(p, regular, fallbacks)
}

func newBoundPolicy(p *policy, bindings, fallbacks []*binding) boundPolicy {
	index := sync.OnceValue(func() *matching.NamespaceIndex {
		criteria := make([]*matching.Criteria, len(bindings))
		for i, b := range bindings {
			criteria[i] = b.criteria
		}
		return matching.NewNamespaceIndex(criteria)
	})
	return boundPolicy{policy: p, bindings: bindings, fallbacks: fallbacks, index: index}
}

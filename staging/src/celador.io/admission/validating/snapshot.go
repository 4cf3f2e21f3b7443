// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/expression"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// Snapshot is the set of policies in effect at one time, with their bindings.
// Immutable, so safe for concurrent use.
type Snapshot struct {
	// policies in effect, sorted by name.
	policies []*boundPolicy
	index    *matching.Index
}

// boundPolicy is a policy with all that it takes to apply it. Immutable.
type boundPolicy struct {
	*policy
	*bindings
	// params is nil without a paramKind.
	params params.Kind
}

// NewSnapshot returns the given policies with the given bindings, for a set that does
// not change. Requests that match a policy with a paramKind are subject to its
// failurePolicy, as there is nowhere to find params. There are no verdicts either:
// feature TypeEnforcement is taken for off.
func NewSnapshot(compiler *expression.Compiler, features Features, policies []*v1.ValidatingAdmissionPolicy, bindings []*v1.ValidatingAdmissionPolicyBinding) *Snapshot {
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

// inEffect says whether a policy with the given bindings has any. A singleton takes
// effect by itself and not through bindings.
func (p *policy) inEffect(bound *bindings) bool {
	return p != nil && (p.singleton || bound != nil)
}

// bind joins a policy with its bindings. It returns nil when that is not in effect.
func bind(p *policy, bound *bindings) *boundPolicy {
	switch {
	case !p.inEffect(bound):
		return nil
	case p.singleton:
		return &boundPolicy{policy: p, bindings: onlyUnbound}
	default:
		return &boundPolicy{policy: p, bindings: bound}
	}
}

// newIndex returns an index of the policies by what they match.
func newIndex(policies []*boundPolicy) *matching.Index {
	criteria := make([]*matching.Criteria, len(policies))
	for i, p := range policies {
		criteria[i] = p.criteria
	}
	// Not from the policies themselves, of which later snapshots may have others.
	return matching.NewIndex(len(criteria), func(i int) *matching.Criteria { return criteria[i] })
}

// sameCriteria says whether an index that has one policy is right for the other. Either
// may be nil for none.
func sameCriteria(a, b *boundPolicy) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.criteria == b.criteria
}

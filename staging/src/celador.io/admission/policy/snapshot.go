// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"iter"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/lookups"
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// Snapshot holds the policies that are in effect at one time, with their bindings. Immutable, so
// safe for concurrent use.
type Snapshot[Body any] struct {
	// policies are sorted by name.
	policies []*boundPolicy[Body]
	index    *matching.Index
}

// FailsClosed reports whether a policy with failurePolicy Fail may match the request. The request
// must then wait while policies may be outdated. FailsClosed does not look at selectors and match
// conditions.
func (s *Snapshot[Body]) FailsClosed(r *matching.Request) bool {
	for _, c := range s.index.Candidates(r) {
		if s.policies[c.Position].FailurePolicy == v1.Fail {
			return true
		}
	}
	return false
}

// FailClosedParams yields the handles of the params of each policy that has failurePolicy Fail and
// may match the request. The request must wait while these params may be outdated.
func (s *Snapshot[Body]) FailClosedParams(r *matching.Request) iter.Seq[params.Handle] {
	return func(yield func(params.Handle) bool) {
		for _, c := range s.index.Candidates(r) {
			if p := s.policies[c.Position]; p.FailurePolicy == v1.Fail && p.params != nil && !yield(p.params) {
				return
			}
		}
	}
}

// boundPolicy is a policy with its bindings, and access to its params and lookups. Immutable.
type boundPolicy[Body any] struct {
	*Policy[Body]
	*bindings
	// only is the binding of the policy if it has a single one, and nil otherwise. It saves a
	// request the walk through the lists of bindings.
	only *Binding
	// params is nil without a paramKind.
	params params.Handle
	// handles has one handle for each lookup, or none if the store has no source of lookups.
	handles []lookups.Handle
}

// inEffect reports whether the policy applies at all: it is a singleton, or it has a binding. p may
// be nil.
func (p *Policy[Body]) inEffect(bound *bindings) bool {
	return p != nil && (p.singleton || bound != nil)
}

// bind returns the policy with its bindings, or nil if the policy is not in effect.
func bind[Body any](p *Policy[Body], bound *bindings) *boundPolicy[Body] {
	switch {
	case !p.inEffect(bound):
		return nil
	case p.singleton:
		return &boundPolicy[Body]{Policy: p, bindings: onlyUnbound, only: unbound}
	default:
		return &boundPolicy[Body]{Policy: p, bindings: bound, only: bound.only()}
	}
}

// newIndex returns an index of the policies by their match constraints.
func newIndex[Body any](policies []*boundPolicy[Body]) *matching.Index {
	criteria := make([]*matching.Criteria, len(policies))
	for i, p := range policies {
		criteria[i] = p.criteria
	}
	// The index must not keep the policies in memory, because later snapshots use it for other
	// policies. So it refers to the criteria only.
	return matching.NewIndex(len(criteria), func(i int) *matching.Criteria { return criteria[i] })
}

// sameCriteria reports whether two states of a policy have the same compiled match constraints, so
// that an index of one is an index of the other. A state is nil while the policy is not in effect.
func sameCriteria[Body any](a, b *boundPolicy[Body]) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.criteria == b.criteria
}

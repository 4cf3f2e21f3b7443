// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"celador.io/admission/matching"
	"celador.io/admission/params"
)

// Snapshot is the set of policies in effect at one time, with their bindings.
// Immutable, so safe for concurrent use.
type Snapshot[B any] struct {
	// policies in effect, sorted by name.
	policies []*boundPolicy[B]
	index    *matching.Index
}

// boundPolicy is a policy with all that it takes to apply it. Immutable.
type boundPolicy[B any] struct {
	*Policy[B]
	*bindings
	// params is nil without a paramKind.
	params params.Kind
}

// inEffect says whether a policy with the given bindings has any. A singleton takes
// effect by itself and not through bindings.
func (p *Policy[B]) inEffect(bound *bindings) bool {
	return p != nil && (p.singleton || bound != nil)
}

// bind joins a policy with its bindings. It returns nil when that is not in effect.
func bind[B any](p *Policy[B], bound *bindings) *boundPolicy[B] {
	switch {
	case !p.inEffect(bound):
		return nil
	case p.singleton:
		return &boundPolicy[B]{Policy: p, bindings: onlyUnbound}
	default:
		return &boundPolicy[B]{Policy: p, bindings: bound}
	}
}

// newIndex returns an index of the policies by what they match.
func newIndex[B any](policies []*boundPolicy[B]) *matching.Index {
	criteria := make([]*matching.Criteria, len(policies))
	for i, p := range policies {
		criteria[i] = p.criteria
	}
	// Not from the policies themselves, of which later snapshots may have others.
	return matching.NewIndex(len(criteria), func(i int) *matching.Criteria { return criteria[i] })
}

// sameCriteria says whether an index that has one policy is right for the other. Either
// may be nil for none.
func sameCriteria[B any](a, b *boundPolicy[B]) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.criteria == b.criteria
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync/atomic"

	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/matching"
)

// A Set holds webhooks in the order in which they are called, indexed by the resources that they
// match. Safe for concurrent use.
type Set struct {
	webhooks []member
	index    *matching.Index
	// shared numbers the expressions that are match conditions of several webhooks.
	shared map[string]int
}

type member struct {
	*Webhook
	// own holds the match conditions with the numbers of shared expressions. Nil until a request
	// needs them, or if there are none.
	own atomic.Pointer[matchconditions.Conditions]
}

// NewSet returns the set of the given webhooks. A webhook may be in several sets.
func NewSet(webhooks []*Webhook) *Set {
	s := &Set{webhooks: make([]member, len(webhooks)), shared: map[string]int{}}
	seen := map[string]bool{}
	for i, w := range webhooks {
		s.webhooks[i].Webhook = w
		if w.traced {
			continue // the tracer sees the evaluations of each webhook
		}
		for j := range w.matchConditions {
			text := w.matchConditions[j].Expression
			if _, numbered := s.shared[text]; seen[text] && !numbered {
				s.shared[text] = len(s.shared)
			}
			seen[text] = true
		}
	}
	s.index = matching.NewIndex(len(webhooks), func(i int) *matching.Criteria { return webhooks[i].criteria })
	return s
}

// conditions returns the match conditions of the webhook at a position.
func (s *Set) conditions(position int) matchconditions.Conditions {
	m := &s.webhooks[position]
	if own := m.own.Load(); own != nil {
		return *own
	}
	if len(m.matchConditions) == 0 {
		return nil
	}
	own := m.conditions().Sharing(s.shared)
	m.own.Store(&own)
	return own
}

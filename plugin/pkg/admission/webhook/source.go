// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync/atomic"

	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
)

// Source lists the webhooks of another source with match conditions that Celador's engine
// evaluates. What was compiled for a webhook stays for as long as the other source lists
// the same accessor. Safe for concurrent use.
type Source struct {
	generic.Source
	step *Step
	// conditions says whether match conditions count.
	conditions func() bool
	current    atomic.Pointer[listing]
}

// NewSource returns a source of the webhooks that from lists. If conditions returns
// false, webhooks are called as if they had no match conditions.
func (s *Step) NewSource(from generic.Source, conditions func() bool) *Source {
	return &Source{Source: from, step: s, conditions: conditions}
}

// listing is what became of the webhooks that the other source listed.
type listing struct {
	theirs, ours []upstream.WebhookAccessor
}

// Webhooks implements generic.Source. The result is the same slice until the webhooks change.
func (s *Source) Webhooks() []upstream.WebhookAccessor {
	theirs := s.Source.Webhooks()
	last := s.current.Load()
	if last != nil && same(last.theirs, theirs) {
		return last.ours
	}
	known := map[upstream.WebhookAccessor]upstream.WebhookAccessor{}
	if last != nil {
		for i, a := range last.theirs {
			known[a] = last.ours[i]
		}
	}
	next := &listing{theirs, make([]upstream.WebhookAccessor, len(theirs))}
	for i, a := range theirs {
		if next.ours[i] = known[a]; next.ours[i] == nil {
			next.ours[i] = s.wrap(a)
		}
	}
	// Requests that come at the same time may each make a listing. Any of them will do.
	s.current.Store(next)
	return next.ours
}

func (s *Source) wrap(a upstream.WebhookAccessor) upstream.WebhookAccessor {
	if !s.conditions() {
		a = unconditional{a}
	}
	return s.step.newAccessor(a)
}

func same(a, b []upstream.WebhookAccessor) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

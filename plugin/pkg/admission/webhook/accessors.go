// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"sync/atomic"

	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
)

// Accessors lists the webhooks of another source as *Accessor. It keeps the compiled webhook for as
// long as the other source lists the same accessor. Safe for concurrent use.
type Accessors struct {
	generic.Source
	conditions func() bool
	current    atomic.Pointer[listing]
}

// NewAccessors returns the accessors of the webhooks that from lists. If conditions returns false,
// the webhooks have no match conditions.
func NewAccessors(from generic.Source, conditions func() bool) *Accessors {
	return &Accessors{Source: from, conditions: conditions}
}

// listing holds the accessors that the other source listed, and the Accessors of the same webhooks.
type listing struct {
	theirs, ours []upstream.WebhookAccessor
}

// Webhooks implements generic.Source. The result is the same slice until the webhooks change.
func (s *Accessors) Webhooks() []upstream.WebhookAccessor {
	theirs := s.Source.Webhooks()
	last := s.current.Load()
	if last != nil && len(last.theirs) == len(theirs) && (len(theirs) == 0 || &last.theirs[0] == &theirs[0]) {
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
			next.ours[i] = newAccessor(a, s.conditions())
		}
	}
	// Concurrent requests may each make a listing. The last one stays.
	s.current.Store(next)
	return next.ours
}

// RunReloadLoop implements generic.ReloadableSource, for a source of manifests.
func (s *Accessors) RunReloadLoop(ctx context.Context) {
	s.Source.(generic.ReloadableSource).RunReloadLoop(ctx)
}

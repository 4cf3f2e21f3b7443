// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Selection is a set of names of policies, for hosts in which not all policies decide about every
// request. Its names never change. A nil Selection has all names. Safe for concurrent use.
type Selection struct {
	names sets.Set[string]
	// last holds the last result of Select, which usually serves the next request too, because
	// snapshots change less often than requests come.
	last atomic.Pointer[selected]
}

// selected holds two values of type *Snapshot: the one that was passed to Select, and the result.
// They are of type any, because Selection has no type parameter.
type selected struct{ from, part any }

// NewSelection returns the selection of the policies with the given names.
func NewSelection(names ...string) *Selection { return &Selection{names: sets.New(names...)} }

// Has reports whether the policy with the name is selected.
func (s *Selection) Has(name string) bool { return s == nil || s.names.Has(name) }

// Select returns a snapshot of the selected policies, with the same bindings.
func (s *Snapshot[Body]) Select(selection *Selection) *Snapshot[Body] {
	if selection == nil {
		return s
	}
	if last := selection.last.Load(); last != nil && last.from == any(s) {
		return last.part.(*Snapshot[Body])
	}
	var policies []*boundPolicy[Body]
	for _, p := range s.policies {
		if selection.Has(p.Name) {
			policies = append(policies, p)
		}
	}
	part := &Snapshot[Body]{policies, newIndex(policies)}
	selection.last.Store(&selected{s, part})
	return part
}

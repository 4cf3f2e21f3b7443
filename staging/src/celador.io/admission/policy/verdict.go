// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"
)

var errUnchecked = errors.New("policy has not been type checked yet")

// verdict is whether a policy may decide. Immutable.
type verdict struct {
	uid        types.UID
	generation int64
	err        error
}

// SetVerdict takes the outcome of checking the types of one generation of a policy: nil if
// it may decide as written, or else what requests run into, subject to its failurePolicy.
// That is in effect for this generation and, until there is another verdict, later ones of
// the policy with that UID, while it is Enforced.
//
// A verdict on a policy or a generation that the store does not have yet waits for it.
// Calls for one name have to be in the order of the checks.
func (s *Store[P, B, Body]) SetVerdict(name string, uid types.UID, generation int64, err error) {
	if s.verdicts == nil {
		return
	}
	v := &verdict{uid, generation, err}
	s.lock.Lock()
	defer s.lock.Unlock()
	old, known := s.policies[name]
	if !known || old.uid != uid || old.generation < generation {
		s.verdicts[name] = v
		return
	}
	current := *old
	current.verdict = v
	s.policies[name] = &current
	if changes(old, &current) {
		s.publish(name)
	}
}

// ForgetVerdict drops a verdict that still waits. It is to be called when it is known that
// there is no policy of that name any more, and so no more verdict on it: the store may have
// seen the deletion before the last one.
func (s *Store[P, B, Body]) ForgetVerdict(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.verdicts, name)
}

// changes says whether requests can tell two verdicts on a policy apart.
func changes[B any](old, current *Policy[B]) bool {
	before, after := old.misconfiguration(), current.misconfiguration()
	if before == nil || after == nil {
		return before != after
	}
	return before.Error() != after.Error()
}

// latestVerdict returns the verdict on a policy that takes the place of what the store has
// under its name, nil if there is none.
func (s *Store[P, B, Body]) latestVerdict(p *Policy[Body]) *verdict {
	if waiting := s.verdicts[p.Name]; waiting != nil && waiting.uid == p.uid && waiting.generation <= p.generation {
		delete(s.verdicts, p.Name)
		return waiting
	}
	if old := s.policies[p.Name]; old != nil && old.uid == p.uid {
		return old.verdict
	}
	return nil
}

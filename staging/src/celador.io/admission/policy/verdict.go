// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"

	"k8s.io/apimachinery/pkg/types"
)

var errUnchecked = errors.New("policy has not been type checked yet")

// verdict states whether a policy may decide: err is nil if it may. uid and generation are those of
// the object that was checked. Immutable.
type verdict struct {
	uid        types.UID
	generation int64
	err        error
}

// SetVerdict implements typecheck.VerdictStore. It does nothing in a store that does not enforce
// types. If the store does not have the policy or the generation yet, because the check was faster
// than the informer, SetVerdict keeps the verdict until the policy is stored.
func (s *Store[PolicyObject, BindingObject, Body]) SetVerdict(name string, uid types.UID, generation int64, err error) {
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
	if misconfigurationChanged(old, &current) {
		s.publish(name)
	}
}

// ForgetVerdict implements typecheck.VerdictStore. A verdict that arrives after the deletion of its
// policy would otherwise be kept forever.
func (s *Store[PolicyObject, BindingObject, Body]) ForgetVerdict(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.verdicts, name)
}

// misconfigurationChanged reports whether a policy with a new verdict fails requests with another
// error than before, or no longer. Only then must a new snapshot be published.
func misconfigurationChanged[Body any](old, current *Policy[Body]) bool {
	before, after := old.misconfiguration(), current.misconfiguration()
	if before == nil || after == nil {
		return before != after
	}
	return before.Error() != after.Error()
}

// takeVerdict returns the verdict on a policy that is about to replace the stored policy with its
// name: a verdict that arrived before the policy, otherwise the verdict on an earlier generation,
// otherwise nil.
func (s *Store[PolicyObject, BindingObject, Body]) takeVerdict(p *Policy[Body]) *verdict {
	if waiting := s.verdicts[p.Name]; waiting != nil && waiting.uid == p.uid && waiting.generation <= p.generation {
		delete(s.verdicts, p.Name)
		return waiting
	}
	if old := s.policies[p.Name]; old != nil && old.uid == p.uid {
		return old.verdict
	}
	return nil
}

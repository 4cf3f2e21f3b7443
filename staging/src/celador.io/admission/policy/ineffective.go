// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

// Ineffective returns the names of the policies that need a binding and have none, and of the
// bindings whose policy does not exist, in any order. It returns none while changes are held.
func (s *Store[PolicyObject, BindingObject, Body]) Ineffective() (policies, bindings []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.held {
		return nil, nil
	}
	for name, p := range s.policies {
		if !p.inEffect(s.byPolicy[name]) {
			policies = append(policies, name)
		}
	}
	for name, b := range s.bindings {
		if s.policies[b.policyName.Value()] == nil {
			bindings = append(bindings, name)
		}
	}
	return policies, bindings
}

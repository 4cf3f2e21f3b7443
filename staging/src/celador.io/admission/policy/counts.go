// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// States of policies and bindings, as Counts reports them.
const (
	// Active policies and bindings are in effect.
	Active = "active"
	// Unbound policies have no binding and so no effect.
	Unbound = "unbound"
	// Invalid policies are in effect, but their configuration or an expression fails requests. The
	// expressions of policies that are not compiled yet do not count.
	Invalid = "invalid"
	// Orphaned bindings name a policy that does not exist.
	Orphaned = "orphaned"
	// Idle bindings name a Singleton, which applies without bindings.
	Idle = "idle"
)

// Counts returns the numbers of policies and bindings by state. policies has the keys Active,
// Unbound and Invalid, and bindings has Active, Orphaned and Idle, also if the number is 0.
func (s *Store[PolicyObject, BindingObject, Body]) Counts() (policies, bindings map[string]int) {
	policies = map[string]int{Active: 0, Unbound: 0, Invalid: 0}
	bindings = map[string]int{Active: 0, Orphaned: 0, Idle: 0}
	s.lock.Lock()
	defer s.lock.Unlock()
	for name, p := range s.policies {
		switch {
		case !p.inEffect(s.byPolicy[name]):
			policies[Unbound]++
		case p.failsRequests():
			policies[Invalid]++
		default:
			policies[Active]++
		}
	}
	for name, bound := range s.byPolicy {
		switch p := s.policies[name]; {
		case p == nil:
			bindings[Orphaned] += bound.len()
		case p.singleton:
			bindings[Idle] += bound.len()
		default:
			bindings[Active] += bound.len()
		}
	}
	return policies, bindings
}

// Ineffective returns the names of the policies that need a binding and have none, and of the
// bindings whose policy does not exist, in any order. It returns none while Hold delays the
// publication of changes, because policies and bindings may be yet to come.
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

// UnknownLookups calls observe for each lookup of a policy in effect whose objects, or the keys of
// whose index, the source does not know. lookup is the position of the lookup in spec.lookups, and
// reason the error that requests get. UnknownLookups does not wait for objects.
func (s *Store[PolicyObject, BindingObject, Body]) UnknownLookups(observe func(policy string, uid types.UID, generation int64, lookup int, reason error)) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range s.Snapshot().policies {
		for i, handle := range p.handles {
			if _, err := handle.State(ended); err != nil {
				observe(p.Name, p.uid, p.generation, i, err)
			}
		}
	}
}

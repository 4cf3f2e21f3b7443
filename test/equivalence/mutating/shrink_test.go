// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"iter"
	"slices"
	"testing"

	"celador.io/celador/test/equivalence/reduce"
)

// shrink leaves out all that is not needed for plugins to differ.
func shrink(t *testing.T, s scenario, requests map[string]request) (scenario, map[string]request) {
	t.Helper()
	return reduce.Scenario(s, requests, reductions, func(s scenario, requests map[string]request) bool {
		return compareIn(t, s, requests).unexplained != nil
	})
}

// reductions returns copies of a scenario with a policy, a binding, a mutation or a condition
// less.
func reductions(s scenario) iter.Seq[scenario] {
	return func(yield func(scenario) bool) {
		for i := range s.Policies {
			c := s
			c.Policies = slices.Delete(slices.Clone(s.Policies), i, i+1)
			if !yield(c) {
				return
			}
			changes := []func(*spec){}
			for j := range s.Policies[i].Spec.Mutations {
				changes = append(changes, func(s *spec) { s.Mutations = slices.Delete(s.Mutations, j, j+1) })
			}
			for j := range s.Policies[i].Spec.MatchConditions {
				changes = append(changes, func(s *spec) { s.MatchConditions = slices.Delete(s.MatchConditions, j, j+1) })
			}
			for _, change := range changes {
				c := s
				c.Policies = slices.Clone(s.Policies)
				c.Policies[i] = s.Policies[i].DeepCopy()
				change(&c.Policies[i].Spec)
				if !yield(c) {
					return
				}
			}
		}
		for i := range s.Bindings {
			c := s
			c.Bindings = slices.Delete(slices.Clone(s.Bindings), i, i+1)
			if !yield(c) {
				return
			}
		}
	}
}

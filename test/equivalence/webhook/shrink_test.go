// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

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

// reductions returns copies of a scenario with a webhook, a rule or a condition less.
func reductions(s scenario) iter.Seq[scenario] {
	return func(yield func(scenario) bool) {
		for i := range s {
			if !yield(slices.Delete(s.clone(), i, i+1)) {
				return
			}
			for j := range s[i].MatchConditions {
				c := s.clone()
				c[i].MatchConditions = slices.Delete(c[i].MatchConditions, j, j+1)
				if !yield(c) {
					return
				}
			}
			for j := range s[i].Rules {
				c := s.clone()
				c[i].Rules = slices.Delete(c[i].Rules, j, j+1)
				if !yield(c) {
					return
				}
			}
		}
	}
}

func (s scenario) clone() scenario {
	c := slices.Clone(s)
	for i := range c {
		c[i].MutatingWebhook = *s[i].MutatingWebhook.DeepCopy()
	}
	return c
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"
)

func TestCounts(t *testing.T) {
	type counts = map[string]int
	spoilt := denyingWith("p", "no")
	spoilt.Spec.Variables = []v1.Variable{{Name: "x", Expression: "1 +"}}
	unconstrained := denyingWith("p", "no")
	unconstrained.Spec.MatchConstraints = nil
	for name, test := range map[string]struct {
		objects            []any
		policies, bindings counts
	}{
		"nothing":      {nil, counts{}, counts{}},
		"active":       {[]any{denyingWith("p", "no"), policytest.Binding("a", "p"), policytest.Binding("b", "p")}, counts{"active": 1}, counts{"active": 2}},
		"unbound":      {[]any{denyingWith("p", "no"), denyingWith("q", "no"), policytest.Binding("b", "p")}, counts{"active": 1, "unbound": 1}, counts{"active": 1}},
		"orphaned":     {[]any{policytest.Binding("a", "p"), policytest.Binding("b", "q"), denyingWith("q", "no")}, counts{"active": 1}, counts{"active": 1, "orphaned": 1}},
		"broken":       {[]any{spoilt, policytest.Binding("b", "p")}, counts{"invalid": 1}, counts{"active": 1}},
		"broken, idle": {[]any{spoilt}, counts{"unbound": 1}, counts{}},
		"incomplete":   {[]any{unconstrained, policytest.Binding("b", "p")}, counts{"invalid": 1}, counts{"active": 1}},
		"singleton":    {[]any{singleton(denyingWith("p", "no"))}, counts{"active": 1}, counts{}},
		"idle binding": {[]any{singleton(denyingWith("p", "no")), policytest.Binding("b", "p")}, counts{"active": 1}, counts{"idle": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(false, nil, test.objects...)
			policies, bindings := store.Counts()
			unbound, orphaned := store.Ineffective()
			if len(unbound) != policies[policy.Unbound] || len(orphaned) != bindings[policy.Orphaned] {
				t.Errorf("without effect are %v and %v, but the counts are %v and %v", unbound, orphaned, policies, bindings)
			}
			if diff := cmp.Diff(complete(test.policies, "active", "unbound", "invalid"), policies); diff != "" {
				t.Errorf("policies differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(complete(test.bindings, "active", "orphaned", "idle"), bindings); diff != "" {
				t.Errorf("bindings differ (-want +got):\n%s", diff)
			}
		})
	}
}

// complete adds the missing states with count 0, because the metric's series must not disappear.
func complete(counts map[string]int, states ...string) map[string]int {
	for _, state := range states {
		counts[state] += 0
	}
	return counts
}

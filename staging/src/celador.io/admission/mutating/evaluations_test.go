// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/policy"
)

// A tally holds numbers of evaluations: admitted, denied, failed.
type tally [3]uint64

// evaluations returns the evaluations of policy p.
func (s subject) evaluations() (counts tally) {
	s.snapshot.ObserveEvaluations(func(_ string, outcome policy.Outcome, n uint64) { counts[outcome] = n })
	return counts
}

// A policy with several mutations is evaluated once, and again if some of them are reinvoked.
func TestEvaluations(t *testing.T) {
	for name, test := range map[string]struct {
		policy                 *v1.MutatingAdmissionPolicy
		first, andReinvocation tally
	}{
		"applied":          {policytest.Mutating("p", policytest.SetData("a", "'2'"), policytest.SetData("b", "'2'")), tally{1, 0, 0}, tally{1, 0, 0}},
		"reinvoked":        {ifNeeded(policytest.Mutating("p", policytest.SetData("a", "'2'"))), tally{1, 0, 0}, tally{2, 0, 0}},
		"nothing to do":    {policytest.Mutating("p", inline("null")), tally{1, 0, 0}, tally{1, 0, 0}},
		"refused":          {ignoring(policytest.Mutating("p", inline("null"), inline("false"))), tally{0, 1, 0}, tally{0, 1, 0}},
		"failed":           {policytest.Mutating("p", inline("object.data.missing == '1'")), tally{0, 0, 1}, tally{0, 0, 1}},
		"ignored":          {ignoring(policytest.Mutating("p", inline("object.data.missing == '1'"))), tally{0, 0, 1}, tally{0, 0, 1}},
		"failed, refused":  {policytest.Mutating("p", inline("object.data.missing == '1'"), inline("false")), tally{0, 0, 1}, tally{0, 0, 1}},
		"exempt":           {matching(policytest.Mutating("p", inline("false")), "false"), tally{}, tally{}},
		"failed condition": {ignoring(matching(policytest.Mutating("p", inline("false")), "object.data.missing == '1'")), tally{0, 0, 1}, tally{0, 0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(on, configMap("a", "1"), test.policy)
			for i, want := range []tally{test.first, test.andReinvocation} {
				if i == 1 {
					s.GetReinvocationContext().SetIsReinvoke()
					s.GetObject().(metav1.Object).SetLabels(map[string]string{"changed": "by another plugin"})
				}
				if _, err := s.mutate(t); err != nil {
					t.Fatal(err)
				}
				if got := s.evaluations(); got != want {
					t.Errorf("after %d rounds: got %v, want %v", i+1, got, want)
				}
			}
		})
	}
}

// The additional rounds in which mutations settle belong to the evaluation of the reinvocation.
func TestEvaluationsOfSettlingMutations(t *testing.T) {
	for name, test := range map[string]struct {
		policy *v1.MutatingAdmissionPolicy
		want   tally
	}{
		"settle":         {policytest.Mutating("p", grow("a", "5")), tally{2, 0, 0}},
		"never settle":   {policytest.Mutating("p", grow("a", "1000")), tally{1, 0, 1}},
		"fail later":     {policytest.Mutating("p", grow("a", "3"), inline("object.data.a.size() < 3 || object.data.missing == '1'")), tally{1, 0, 1}},
		"refuse later":   {policytest.Mutating("p", grow("a", "3"), inline("object.data.a.size() < 3")), tally{1, 1, 0}},
		"exempted later": {matching(policytest.Mutating("p", grow("a", "1000")), "object.data.a.size() < 3"), tally{2, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(on, configMap("a", ""), ifNeeded(test.policy))
			if _, err := s.mutate(t); err != nil {
				t.Fatal(err)
			}
			if _, err := s.reinvoke(t); err != nil {
				t.Fatal(err)
			}
			if got := s.evaluations(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

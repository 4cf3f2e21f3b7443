// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"

	"celador.io/admission/policy"
)

// A tally holds numbers of evaluations: admitted, denied, failed.
type tally [3]uint64

// evaluationsOf returns the evaluations of the policies of a store or snapshot, by name.
func evaluationsOf(of interface {
	ObserveEvaluations(policy.EvaluationObserver)
}) map[string]tally {
	all := map[string]tally{}
	of.ObserveEvaluations(func(policy string, outcome policy.Outcome, n uint64) {
		counts := all[policy]
		counts[outcome] = n
		all[policy] = counts
	})
	return all
}

// The outcome of an evaluation depends neither on the failurePolicy nor on the validationActions.
func TestOutcomesOfEvaluations(t *testing.T) {
	condition := func(expression string) []v1.MatchCondition {
		return []v1.MatchCondition{{Name: "c", Expression: expression}}
	}
	annotation := func(expression string) []v1.AuditAnnotation {
		return []v1.AuditAnnotation{{Key: "a", ValueExpression: expression}}
	}
	for name, test := range map[string]struct {
		spec v1.ValidatingAdmissionPolicySpec
		want tally
	}{
		"satisfied":         {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true", "true")}, tally{1, 0, 0}},
		"annotation":        {v1.ValidatingAdmissionPolicySpec{AuditAnnotations: annotation("'x'")}, tally{1, 0, 0}},
		"not satisfied":     {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false", "true", "false")}, tally{0, 1, 0}},
		"error":             {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false", failing, "false")}, tally{0, 0, 1}},
		"broken":            {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(broken)}, tally{0, 0, 1}},
		"failed annotation": {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false"), AuditAnnotations: annotation("string(object.missing)")}, tally{0, 0, 1}},
		"condition":         {v1.ValidatingAdmissionPolicySpec{MatchConditions: condition("true"), Validations: policytest.Validations("false")}, tally{0, 1, 0}},
		"exempt":            {v1.ValidatingAdmissionPolicySpec{MatchConditions: condition("false"), Validations: policytest.Validations("false")}, tally{}},
		"failed condition":  {v1.ValidatingAdmissionPolicySpec{MatchConditions: condition(failing), Validations: policytest.Validations("false")}, tally{0, 0, 1}},
		"unknown paramKind": {v1.ValidatingAdmissionPolicySpec{ParamKind: &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}, Validations: policytest.Validations("true")}, tally{0, 0, 1}},
	} {
		for _, failurePolicy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
			for _, action := range []v1.ValidationAction{v1.Deny, v1.Audit} {
				t.Run(name+", "+string(failurePolicy)+", "+string(action), func(t *testing.T) {
					test.spec.FailurePolicy = &failurePolicy
					s := store(policytest.Validating("p", test.spec), policytest.Binding("b", "p", action))
					evaluate(t, newServer(), create(9), s.Snapshot())
					if got := evaluationsOf(s)["p"]; got != test.want {
						t.Errorf("got %v, want %v", got, test.want)
					}
				})
			}
		}
	}
}

// Each binding counts. A changed policy continues to count, a policy that was not evaluated has no
// counts, and a deleted policy loses its counts.
func TestEvaluationsOfVersions(t *testing.T) {
	deciding := func(name, expression string) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(expression)})
	}
	s := store(deciding("p", "true"), policytest.Binding("a", "p"), policytest.Binding("b", "p"), deciding("q", "false"), policytest.Binding("c", "q"), deciding("unbound", "true"))
	expect := func(when string, want map[string]tally) {
		t.Helper()
		evaluate(t, newServer(), create(9), s.Snapshot())
		if diff := cmp.Diff(want, evaluationsOf(s)); diff != "" {
			t.Errorf("%s: evaluations (-want +got):\n%s", when, diff)
		}
		if diff := cmp.Diff(want, evaluationsOf(s.Snapshot())); diff != "" {
			t.Errorf("%s: evaluations of the snapshot (-want +got):\n%s", when, diff)
		}
	}
	expect("at first", map[string]tally{"p": {2, 0, 0}, "q": {0, 1, 0}})
	s.Set(deciding("p", "false"))
	expect("after a change", map[string]tally{"p": {2, 2, 0}, "q": {0, 2, 0}})
	s.DeletePolicy("q")
	expect("after a deletion", map[string]tally{"p": {2, 4, 0}})
	s.Set(deciding("q", "false"))
	expect("created again", map[string]tally{"p": {2, 6, 0}, "q": {0, 1, 0}})
}

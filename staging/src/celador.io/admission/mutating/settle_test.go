// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"

	"celador.io/admission/mutating"
	"celador.io/admission/policyspec"
)

// grow returns a mutation that appends "x" to an entry of data that is shorter than limit.
func grow(key, limit string) v1.Mutation {
	return policytest.JSONPatch(`object.data.` + key + `.size() >= ` + limit + ` ? [JSONPatch{}].filter(p, false) : [JSONPatch{op: "add", path: "/data/` + key + `", value: object.data.` + key + ` + "x"}]`)
}

// matching gives a policy a match condition.
func matching(p *v1.MutatingAdmissionPolicy, expression string) *v1.MutatingAdmissionPolicy {
	p.Spec.MatchConditions = []v1.MatchCondition{{Name: "condition", Expression: expression}}
	return p
}

// Mutations with reinvocationPolicy IfNeeded are reinvoked until the object no longer changes.
// After too many rounds, the policies that still change the object fail.
func TestMutationsSettle(t *testing.T) {
	endless := func(policies string) string {
		return "mutations never settle: after 10 more rounds the object is still changed by policy " + policies
	}
	for name, test := range map[string]struct {
		features policyspec.Features
		policies []*v1.MutatingAdmissionPolicy
		want     string // data.a and data.b, separated by a slash
		// failing holds the names of the policies that fail, all with the same message.
		failing []string
		message string
	}{
		"at once":     {on, []*v1.MutatingAdmissionPolicy{ifNeeded(policytest.Mutating("p", policytest.SetData("a", "'y'")))}, "y/", nil, ""},
		"in a while":  {on, []*v1.MutatingAdmissionPolicy{ifNeeded(policytest.Mutating("p", grow("a", "7")))}, "xxxxxxx/", nil, ""},
		"never again": {on, []*v1.MutatingAdmissionPolicy{policytest.Mutating("p", grow("a", "1000"))}, "x/", nil, ""},
		"each other": {on, []*v1.MutatingAdmissionPolicy{
			ifNeeded(policytest.Mutating("p", conditional(policytest.SetData("a", "object.data.b + 'x'"), "object.data.b.size() < 4"))), ifNeeded(policytest.Mutating("q", policytest.SetData("b", "object.data.a"))),
		}, "xxxx/xxxx", nil, ""},
		"endless": {on, []*v1.MutatingAdmissionPolicy{ifNeeded(policytest.Mutating("p", grow("a", "1000")))}, "xx/", []string{"p"}, endless("'p' with binding 'p'")},
		"two endless": {on, []*v1.MutatingAdmissionPolicy{
			ifNeeded(policytest.Mutating("p", grow("a", "1000"))), ifNeeded(policytest.Mutating("q", policytest.SetData("b", "'y'"))), ifNeeded(policytest.Mutating("r", grow("a", "1000"))),
		}, "xxxx/y", []string{"p", "r"}, endless("'p' with binding 'p', policy 'r' with binding 'r'")},
		"policies overwrite each other": {on, []*v1.MutatingAdmissionPolicy{ifNeeded(policytest.Mutating("p", policytest.SetData("a", "'p'"))), ifNeeded(policytest.Mutating("q", policytest.SetData("a", "'q'")))}, "q/",
			[]string{"p", "q"}, endless("'p' with binding 'p', policy 'q' with binding 'q'")},
		// A policy that did not apply before reinvocation does not apply later, as without the
		// gate.
		"not applied at first": {on, []*v1.MutatingAdmissionPolicy{
			ifNeeded(matching(policytest.Mutating("p", policytest.SetData("b", "'late'")), "object.data.a.size() > 3")), ifNeeded(policytest.Mutating("q", grow("a", "7"))),
		}, "xxxxxxx/", nil, ""},
		"without the gate": {policyspec.Features{}, []*v1.MutatingAdmissionPolicy{ifNeeded(policytest.Mutating("p", grow("a", "1000")))}, "xx/", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(test.features, configMap("a", "", "b", ""), test.policies...)
			if result, err := s.mutate(t); err != nil || len(result.Failures) > 0 {
				t.Fatalf("first run: got %v, %v", result.Failures, err)
			}
			result, err := s.reinvoke(t)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.data()["a"] + "/" + s.data()["b"]; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			var failing []string
			for _, f := range result.Failures {
				failing = append(failing, f.Policy)
				if f.Message != test.message || f.Ignored {
					t.Errorf("got failure %v, want %s", f, test.message)
				}
			}
			if diff := cmp.Diff(test.failing, failing); diff != "" {
				t.Errorf("failing policies (-want +got):\n%s", diff)
			}
		})
	}
}

// If failurePolicy ignores that mutations do not settle, the object is as it was before the
// additional rounds, and the result does not list the mutations of the rounds.
func TestIgnoredUnsettled(t *testing.T) {
	p := ifNeeded(policytest.Mutating("p", grow("a", "1000")))
	p.Spec.FailurePolicy = new(v1.Ignore)
	s := create(on, configMap("a", "", "b", ""), p)
	for round, run := range []func(*testing.T) (mutating.Result, error){s.mutate, s.reinvoke} {
		result, err := run(t)
		if err != nil || len(result.Failures) != round || len(result.Mutations) != 1 {
			t.Fatalf("round %d: got %v, failures %v, mutations %v", round, err, result.Failures, result.Mutations)
		}
		if round == 1 && !result.Failures[0].Ignored {
			t.Errorf("got %v, want a failure that is ignored", result.Failures)
		}
	}
	if got := s.data()["a"]; got != "xx" {
		t.Errorf("got %s, want xx", got)
	}
}

// The reinvocationPolicy of a mutation overrides the reinvocationPolicy of its policy.
func TestReinvocationOfMutations(t *testing.T) {
	reinvocation := func(m v1.Mutation, policy v1.ReinvocationPolicyType) v1.Mutation {
		return with(m, func(m *v1.Mutation) { m.ReinvocationPolicy = &policy })
	}
	for name, test := range map[string]struct {
		features policyspec.Features
		policy   *v1.MutatingAdmissionPolicy
		want     string
	}{
		"one of two":                    {on, policytest.Mutating("p", reinvocation(grow("a", "2"), v1.IfNeededReinvocationPolicy), grow("b", "2")), "xx/x"},
		"all but one":                   {on, ifNeeded(policytest.Mutating("p", grow("a", "2"), reinvocation(grow("b", "2"), v1.NeverReinvocationPolicy))), "xx/x"},
		"one of two, without the gate":  {policyspec.Features{}, policytest.Mutating("p", reinvocation(grow("a", "2"), v1.IfNeededReinvocationPolicy), grow("b", "2")), "x/x"},
		"all but one, without the gate": {policyspec.Features{}, ifNeeded(policytest.Mutating("p", grow("a", "2"), reinvocation(grow("b", "2"), v1.NeverReinvocationPolicy))), "xx/xx"},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(test.features, configMap("a", "", "b", ""), test.policy)
			for _, run := range []func(*testing.T) (mutating.Result, error){s.mutate, s.reinvoke} {
				if result, err := run(t); err != nil || len(result.Failures) > 0 {
					t.Fatalf("got %v, %v", result.Failures, err)
				}
			}
			if got := s.data()["a"] + "/" + s.data()["b"]; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

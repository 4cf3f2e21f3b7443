// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"strings"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/validating"
)

// several returns a snapshot of policies that match deployments and admit up to five replicas.
func several(policies int, match *v1.MatchResources) *validating.Snapshot {
	s := store()
	for i := range policies {
		name := fmt.Sprint("p", i)
		s.Set(policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: match,
			Variables:        []v1.Variable{{Name: "few", Expression: few}},
			Validations:      []v1.Validation{{Expression: "variables.few", MessageExpression: "'no'"}, {Expression: few}},
		}))
		s.Set(narrowed(name, name, inNamespaces("blue")))
	}
	return s.Snapshot()
}

// allocations returns the number of allocations of a request.
func allocations(t *testing.T, a admission.Attributes, snapshot *validating.Snapshot) int {
	s := newServer()
	engine := validating.NewEngine(validating.Config{Namespaces: s})
	return int(testing.AllocsPerRun(100, func() {
		result, err := engine.Evaluate(t.Context(), a, s, snapshot)
		if err != nil || result.Err() != nil {
			t.Error(err, result.Err())
		}
		result.Free()
	}))
}

func TestAllocations(t *testing.T) {
	if n := allocations(t, create(1), several(10, policytest.Match(v1.Equivalent, ruleFor(pods)))); n != 0 {
		t.Errorf("a request that no policy matches makes %d allocations", n)
	}
	everything := policytest.Everything()
	one, many := allocations(t, create(1), several(1, everything)), allocations(t, create(1), several(101, everything))
	// With the race detector, sync.Pool drops a quarter of the memory.
	if many-one >= 100 {
		t.Errorf("100 more policies make %d more allocations", many-one)
	}
}

// The memory of a result is reused. What is made of the result before stays valid.
func TestFree(t *testing.T) {
	s := newServer()
	engine := validating.NewEngine(validating.Config{Namespaces: s})
	policy := func(name, message string) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
			Variables:        []v1.Variable{{Name: "text", Expression: "'" + message + " ' + string(object.spec.replicas)"}},
			Validations:      []v1.Validation{{Expression: "true"}, {Expression: "object.spec.replicas < 5", MessageExpression: "variables.text"}},
			AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "variables.text"}},
		})
	}
	actions := []v1.ValidationAction{v1.Deny, v1.Audit}
	first := store(policy("p", "one"), policytest.Binding("a", "p", actions...), policytest.Binding("b", "p", actions...)).Snapshot()
	second := store(policy("q", "two"), policytest.Binding("c", "q", actions...)).Snapshot()
	report := func(replicas int32, snapshot *validating.Snapshot) (decisions []validating.Decision, text func() string) {
		result, err := engine.Evaluate(t.Context(), create(replicas), s, snapshot)
		if err != nil {
			t.Fatal(err)
		}
		defer result.Free()
		decisions, denial, warnings := result.Decisions(), result.Err(), result.Warnings()
		annotations, _ := result.AuditAnnotations()
		return decisions, func() string { return fmt.Sprint(denial, warnings, annotations) }
	}
	for range 3 {
		decisions, text := report(7, first)
		before := text()
		if got, _ := report(3, second); len(got) != 2 {
			t.Errorf("%d decisions, want 2", len(got))
		}
		_, _ = report(8, second)
		if text() != before || !strings.Contains(before, "one 7") {
			t.Errorf("%q became %q", before, text())
		}
		var want []validating.Decision
		for _, binding := range []string{"a", "b"} {
			for _, d := range []validating.Decision{admitted(0), denied(1, "one 7")} {
				d.Binding, d.Actions = binding, actions
				want = append(want, d)
			}
		}
		wantDecisions(t, decisions, want)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
)

// Expressions whose error reveals in which form they read an object: maps of typed objects reject
// numbers as keys.
const (
	objectForm    = "1 in object.metadata.labels"
	oldObjectForm = "1 in oldObject.metadata.labels"
)

// steps are the specs of one policy of a sequence. Each fails at least once, so that errors
// reveal the order in which Kubernetes' plugin evaluated the policies.
var steps = map[string]spec{
	"reads":            patching(showing(objectForm), showing(oldObjectForm)),
	"reads, condition": with(patching(showing(objectForm), showing(oldObjectForm)), when("true")),
	"condition reads":  with(patching(showing("1")), when(objectForm+" || true", oldObjectForm+" || {}[object.metadata.name]")),
	"condition fails":  with(patching(showing("1")), when(failing)),
	"condition broken": with(patching(showing("1")), when(invalid)),
	"changes":          with(applying(one), and(patching(showing("1")))),
	"changes, reads":   with(applying(one), and(patching(showing(objectForm), showing(oldObjectForm)))),
	"changes to same":  with(patching("[JSONPatch{op: 'test', path: '/kind', value: 'None'}]"), and(patching(showing("1")))),
	"reads nothing":    patching(showing("1")),
	"does not compile": applying(invalid),
	"changes, condition": with(with(applying(two), and(patching(showing(objectForm), showing(oldObjectForm)))),
		when("true")),
}

// TestViews compares the forms in which policies read objects that other policies have read
// or changed before.
func TestViews(t *testing.T) {
	requests := map[string]request{"pod": updates()["pod"]}
	for first := range steps {
		for second := range steps {
			t.Run(first+"/"+second, func(t *testing.T) {
				compareIn(t, sequence(nil, first, second, "reads"), requests).check(t)
			})
		}
	}
}

// sequence returns a scenario with a policy for each step, whose names have the order of the
// steps.
func sequence(change func(step int, s *spec), names ...string) scenario {
	var s scenario
	for i, name := range names {
		step := steps[name]
		if change != nil {
			change(i, &step)
		}
		policy := policyOf(fmt.Sprintf("p%d.example.com", i), step)
		s.Policies = append(s.Policies, policy)
		s.Bindings = append(s.Bindings, bindingOf("b"+policy.Name, policy.Name))
	}
	return s
}

// TestViewsOfKinds compares the forms when policies read the object in two kinds.
func TestViewsOfKinds(t *testing.T) {
	legacy := matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))
	for first := range steps {
		for second := range steps {
			if strings.HasPrefix(first, "changes") || strings.HasPrefix(second, "changes") {
				continue // Changes in another version are a difference.
			}
			t.Run(first+"/"+second, func(t *testing.T) {
				s := sequence(func(step int, s *spec) {
					if step%2 == 0 {
						s.MatchConstraints = legacy
					}
				}, first, second, "reads", "reads")
				compareExactly(t, s, fixed["update"])
			})
		}
	}
}

// compareExactly compares the outcomes of a request without regard to wanted differences.
// Kubernetes' plugin evaluates policies in random order; one of the orders must agree.
func compareExactly(t *testing.T, s scenario, r request) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, s)
		want := c.examine(t, c.celador, r)
		var diff string
		for range 200 {
			if diff = cmp.Diff(c.examine(t, c.upstream, r), want); diff == "" {
				return
			}
			c.Shuffle(t)
		}
		t.Errorf("(-upstream +celador):\n%s", diff)
	})
}

// TestViewsAreCurrent checks that a policy reads the changes that others made in another version,
// unlike in Kubernetes.
func TestViewsAreCurrent(t *testing.T) {
	in := func(version string) func(*spec) {
		return matched(matching(v1.Equivalent, rule("example.com", version, "widgets")))
	}
	e := example{
		spec: with(applying(labelled("a", "string(object.spec.replicas)")), in("v1")),
		others: []*v1.MutatingAdmissionPolicy{
			policyOf("q.example.com", with(applying("Object{spec: Object.spec{size: 5}}"), in("v2"))),
			policyOf("r.example.com", with(applying(labelled("r", "string(object.spec.replicas)")), in("v1"))),
		},
		bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy), bindingOf("q", "q.example.com"), bindingOf("r", "r.example.com")},
		on:       "create widget", want: []string{`"a":"9"`, `"r":"5"`, `"replicas":5`},
	}
	got := compareIn(t, e.scenario(), map[string]request{e.on: fixed[e.on]})
	e.check(t, fixed[e.on], got.outcomes[e.on].last())
}

// TestViewsAgain compares the forms when policies run a second time.
func TestViewsAgain(t *testing.T) {
	for name := range steps {
		t.Run(name, func(t *testing.T) {
			again := func(_ int, s *spec) { reinvoked(s); ignoring(s) }
			compareIn(t, sequence(again, name, "changes, reads", "changes, condition"), map[string]request{"pod": updates()["pod"], "touched": fixed["create pod touched"]}).check(t)
		})
	}
}

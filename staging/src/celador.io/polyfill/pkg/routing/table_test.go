// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/polyfill/pkg/routing"
)

// A policy decides about the requests of its route, and for a while about those of routes that it
// has left.
func TestTable(t *testing.T) {
	v1Policy, v2Policy := validating("p", rule("apps", "v1", "deployments")), validating("p", rule("apps", "v2", "deployments"))
	other := validating("other", rule("apps", "v1", "deployments"))
	v1Route, v2Route := routing.ValidatingRoute(v1Policy), routing.ValidatingRoute(v2Policy)

	fake := testingclock.NewFakeClock(time.Now())
	table := routing.NewTable(fake)
	// Each step lets the time pass, or makes a change, and lists which policies decide on v1Route and
	// whether p decides on v2Route. other stays on v1Route.
	for i, step := range []struct {
		name     string
		do       func()
		onV1     bool
		onV2     bool
		replaced bool // the selection of v1Route is another one
	}{
		{"created", func() { table.SetValidating(other); table.SetValidating(v1Policy) }, true, true, true},
		{"unchanged", func() { table.SetValidating(v1Policy.DeepCopy()) }, true, true, false},
		{"moved", func() { table.SetValidating(v2Policy) }, true, true, false},
		{"a moment before the end of the grace", func() { fake.Step(routing.Grace - 1) }, true, true, false},
		{"the end of the grace", func() { fake.Step(1) }, false, true, true},
		{"moved back", func() { table.SetValidating(v1Policy) }, true, true, true},
		{"moved twice", func() { table.SetValidating(v2Policy); table.SetValidating(v1Policy) }, true, true, false},
		// Nothing is left on v2Route, which is unknown then.
		{"long after", func() { fake.Step(2 * routing.Grace) }, true, true, false},
		{"deleted", func() { table.Delete(routing.Validating, "p") }, true, true, false},
		{"created on another route", func() { fake.Step(routing.Grace / 2); table.SetValidating(v2Policy) }, true, true, false},
		{"the end of the grace since the deletion", func() { fake.Step(routing.Grace / 2) }, false, true, true},
		{"deleted again", func() { table.Delete(routing.Validating, "p") }, false, true, false},
		{"deleted twice", func() { table.Delete(routing.Validating, "p"); table.Delete(routing.Mutating, "other") }, false, true, false},
		{"long after the deletion", func() { fake.Step(2 * routing.Grace) }, false, true, false},
		{"created again", func() { table.SetValidating(v1Policy) }, true, true, true},
	} {
		before := table.Selection(v1Route)
		step.do()
		after := table.Selection(v1Route)
		if !after.Has("other") || after.Has("none") || after.Has("p") != step.onV1 {
			t.Errorf("%d %s: p decides: %t, want %t", i, step.name, after.Has("p"), step.onV1)
		}
		if got := table.Selection(v2Route).Has("p"); got != step.onV2 {
			t.Errorf("%d %s: p decides on the other route: %t, want %t", i, step.name, got, step.onV2)
		}
		if (before != after) != step.replaced {
			t.Errorf("%d %s: another selection: %t, want %t", i, step.name, before != after, step.replaced)
		}
	}
}

// The route of a replica that is ahead of this one, or behind, has all policies.
func TestUnknownRoute(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Now())
	table := routing.NewTable(fake)
	p := validating("p", rule("apps", "v1", "deployments"))
	r := routing.ValidatingRoute(p)
	for name, do := range map[string]func(){
		"before the policy is known": func() {},
		"after it is forgotten": func() {
			table.SetValidating(p)
			table.Delete(routing.Validating, "p")
			fake.Step(routing.Grace)
		},
	} {
		if do(); table.Selection(r) != nil || !table.Selection(r).Has("any") {
			t.Errorf("%s: the route is known", name)
		}
	}
	table.SetValidating(p)
	if table.Selection(r).Has("any") {
		t.Error("a known route has all policies")
	}
}

// While the registered webhooks are not those of the table, all validating policies decide on every
// route, and a policy stays on the route that it has left.
func TestRegistered(t *testing.T) {
	fake := testingclock.NewFakeClock(time.Now())
	table := routing.NewTable(fake)
	before, after := validating("p", rule("apps", "v1", "deployments")), validating("p", rule("apps", "v2", "deployments"))
	other := validating("other", rule("apps", "v1", "deployments"))
	mutatingBefore, mutatingAfter := mutating("p", rule("apps", "v1", "deployments")), mutating("p", rule("apps", "v2", "deployments"))
	old := routing.Objects{Validating: []*v1.ValidatingAdmissionPolicy{other, before}, Mutating: []*v1.MutatingAdmissionPolicy{mutatingBefore}}
	current := routing.Objects{Validating: []*v1.ValidatingAdmissionPolicy{after, other}, Mutating: []*v1.MutatingAdmissionPolicy{mutatingAfter}}
	register := func(o routing.Objects) {
		for _, kind := range []routing.Kind{routing.Validating, routing.Mutating} {
			table.SetRegistered(kind, o.Digest(kind))
		}
	}
	for i, step := range []struct {
		name string
		do   func()
		// all is set if all validating policies decide on the old route, and p and mutating if p does.
		all, p, mutating bool
	}{
		{"started", func() { register(old) }, true, true, true},
		{"one policy is known", func() { table.SetValidating(other) }, true, true, true},
		{"all are known", func() { table.SetValidating(before); table.SetMutating(mutatingBefore) }, false, true, true},
		{"moved", func() { table.SetValidating(after); table.SetMutating(mutatingAfter) }, true, true, true},
		{"long after, without a leader", func() { fake.Step(10 * routing.Grace) }, true, true, true},
		{"registered", func() { register(current) }, false, true, true},
		{"the end of the grace", func() { fake.Step(routing.Grace) }, false, false, true}, // the old route of p has no mutating policy, so it is unknown
		{"another moved back and away", func() { table.SetValidating(before); table.SetValidating(after) }, false, true, true},
		{"the registered webhooks are deleted", func() { register(routing.Objects{}); table.SetRegistered(routing.Validating, "") }, false, true, true},
	} {
		step.do()
		s := table.Selection(routing.ValidatingRoute(before))
		if s.Has("any") != step.all || s.Has("p") != step.p || !s.Has("other") {
			t.Errorf("%d %s: all decide: %t, p: %t, other: %t", i, step.name, s.Has("any"), s.Has("p"), s.Has("other"))
		}
		if got := table.Selection(routing.MutatingRoute(mutatingBefore)).Has("p"); got != step.mutating {
			t.Errorf("%d %s: the mutating policy decides: %t", i, step.name, got)
		}
	}
}

// Policies of both kinds with the same name are different policies.
func TestTableKinds(t *testing.T) {
	table := routing.NewTable(testingclock.NewFakeClock(time.Now()))
	v, m := validating("p", rule("apps", "v1", "deployments")), mutating("p", rule("apps", "v1", "deployments"))
	table.SetValidating(v)
	table.SetMutating(m)
	table.Delete(routing.Validating, "p")
	if !table.Selection(routing.MutatingRoute(m)).Has("p") {
		t.Error("the mutating policy is gone")
	}
}

func TestTableConcurrently(t *testing.T) {
	table := routing.NewTable(clock.RealClock{})
	constant := validating("constant", rule("apps", "v1", "deployments"))
	table.SetValidating(constant)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for range 100 {
				p := validating(fmt.Sprint("p", i), rule("apps", "v1", "deployments"))
				table.SetValidating(p)
				if s := table.Selection(routing.ValidatingRoute(p)); !s.Has(p.Name) || !s.Has("constant") {
					t.Error("a policy does not decide on its route")
				}
				table.Delete(routing.Validating, p.Name)
			}
		})
	}
	wait.Wait()
}

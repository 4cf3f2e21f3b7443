// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
)

// countingStore returns a store and a function that returns the names of the policies that it has
// compiled, in order.
func countingStore() (s *store, compiled func() []string) {
	var lock sync.Mutex
	var names []string
	counting := descriptor
	counting.Policy = func(p *v1.ValidatingAdmissionPolicy) *policy.Policy[string] {
		return policy.New(expression.Default(), p, policyspec.Validating(&p.Spec), func(*policy.Compilation) string {
			lock.Lock()
			defer lock.Unlock()
			names = append(names, p.Name)
			return p.Spec.Validations[0].Message
		})
	}
	return policy.NewStore(counting, nil, nil, false), func() []string {
		lock.Lock()
		defer lock.Unlock()
		return slices.Clone(names)
	}
}

func TestUncompiledPolicies(t *testing.T) {
	s, compiled := countingStore()
	expect := func(when string, want ...string) {
		t.Helper()
		if got := compiled(); !slices.Equal(got, want) {
			t.Errorf("%s: compiled are %q, want %q", when, got, want)
		}
	}
	for _, name := range []string{"a", "b", "unbound"} {
		s.SetUncompiled(denyingWith(name, "no"))
	}
	s.Set(policytest.Binding("b", "b"))
	s.Set(narrowed(policytest.Binding("a", "a"), selecting("other")))
	expect("stored")
	for range 2 {
		if got, want := denials(t, s.Snapshot()), []string{"b/b: no"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		expect("a request matches one binding", "b")
	}
	s.CompileAll(t.Context())
	expect("all are compiled", "b", "a")
	s.Set(denyingWith("unbound", "never"))
	expect("another is compiled", "b", "a", "unbound")
}

// A policy counts as evaluated from the first request that its bindings match until some time after
// it is replaced, however often. Its compilation alone is no evaluation, and neither is a verdict a
// replacement.
func TestEvaluated(t *testing.T) { synctest.Test(t, testEvaluated) }

func testEvaluated(t *testing.T) {
	s := newStore(true, nil, policytest.Binding("b", "p"))
	expect := func(when string, want bool) {
		t.Helper()
		if got := s.Evaluated("p"); got != want {
			t.Errorf("%s: evaluated is %t, want %t", when, got, want)
		}
	}
	expect("not stored", false)
	s.Set(denyingWith("p", "no"))
	expect("stored", false)
	s.SetUncompiled(denyingWith("p", "no"))
	s.CompileAll(t.Context())
	expect("compiled", false)
	denials(t, s.Snapshot())
	expect("evaluated", true)
	s.SetVerdict("p", "", 0, nil)
	expect("checked", true)
	s.SetUncompiled(denyingWith("p", "never"))
	expect("replaced", true)
	time.Sleep(time.Second) // of the bubble
	s.SetUncompiled(denyingWith("p", "later"))
	expect("replaced again", true)
	time.Sleep(time.Second) // of the bubble
	expect("after 2 seconds", false)
	s.SetUncompiled(denyingWith("p", "at last"))
	expect("replaced once more", false)
	s.DeletePolicy("p")
	s.Set(denyingWith("p", "no"))
	expect("created again", false)
}

func TestCompileAllStops(t *testing.T) {
	s, compiled := countingStore()
	s.SetUncompiled(denyingWith("p", "no"))
	s.Set(policytest.Binding("b", "p"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.CompileAll(ctx)
	if got := compiled(); len(got) > 0 {
		t.Errorf("compiled are %q, want none", got)
	}
}

// Requests and CompileAll compile each policy once, and no request sees a policy without its body.
func TestConcurrentCompilation(t *testing.T) {
	s, compiled := countingStore()
	release := s.Hold()
	const policies = 50
	for i := range policies {
		name := fmt.Sprintf("p%02d", i)
		s.SetUncompiled(denyingWith(name, "no"))
		s.Set(policytest.Binding("b-"+name, name))
	}
	release()
	var running sync.WaitGroup
	var complete atomic.Int64
	for range 4 {
		running.Go(func() { s.CompileAll(t.Context()) })
		running.Go(func() {
			for _, denial := range denials(t, s.Snapshot()) {
				var policy, body string
				if _, err := fmt.Sscanf(denial, "%s %s", &policy, &body); err == nil && body == "no" {
					complete.Add(1)
				}
			}
		})
	}
	running.Wait()
	if got := complete.Load(); got != 4*policies {
		t.Errorf("%d complete denials, want %d", got, 4*policies)
	}
	names := compiled()
	slices.Sort(names)
	if got := len(slices.Compact(slices.Clone(names))); got != policies || len(names) != policies {
		t.Errorf("%d compilations of %d policies, want one of each of %d", len(names), got, policies)
	}
}

// An expression that does not compile counts once the policy is compiled.
func TestCountsOfUncompiledPolicies(t *testing.T) {
	p := denyingWith("p", "no")
	p.Spec.Validations[0].Expression = "1 +"
	s := newStore(false, nil, policytest.Binding("b", "p"))
	s.SetUncompiled(p)
	if policies, _ := s.Counts(); policies[policy.Active] != 1 {
		t.Errorf("before: got %v, want an active policy", policies)
	}
	s.CompileAll(t.Context())
	if policies, _ := s.Counts(); policies[policy.Invalid] != 1 {
		t.Errorf("after: got %v, want an invalid policy", policies)
	}
}

// Changes take effect together, deletions included.
func TestHold(t *testing.T) {
	s := newStore(false, nil, denyingWith("a", "no"), policytest.Binding("a", "a"), denyingWith("b", "no"), policytest.Binding("b", "b"))
	release := s.Hold()
	s.DeletePolicy("a")
	s.Set(denyingWith("b", "never"))
	s.Set(denyingWith("c", "no"))
	s.Set(policytest.Binding("c", "c"))
	if got, want := denials(t, s.Snapshot()), []string{"a/a: no", "b/b: no"}; !slices.Equal(got, want) {
		t.Errorf("held: got %q, want %q", got, want)
	}
	release()
	if got, want := denials(t, s.Snapshot()), []string{"b/b: never", "c/c: no"}; !slices.Equal(got, want) {
		t.Errorf("released: got %q, want %q", got, want)
	}
	s.DeleteBinding("b")
	if got, want := denials(t, s.Snapshot()), []string{"c/c: no"}; !slices.Equal(got, want) {
		t.Errorf("afterwards: got %q, want %q", got, want)
	}
}

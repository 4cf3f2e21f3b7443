// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"
)

func TestStore(t *testing.T) {
	type change = func(*store)
	policy := func(name, message string) change {
		return func(s *store) { s.Set(denyingWith(name, message)) }
	}
	binding := func(name, policy string) change {
		return func(s *store) { s.Set(policytest.Binding(name, policy)) }
	}
	noPolicy := func(name string) change { return func(s *store) { s.DeletePolicy(name) } }
	noBinding := func(name string) change { return func(s *store) { s.DeleteBinding(name) } }
	for name, test := range map[string]struct {
		changes []change
		want    []string
	}{
		"nothing":                      {nil, nil},
		"policy alone":                 {[]change{policy("p", "no")}, nil},
		"binding alone":                {[]change{binding("b", "p")}, nil},
		"policy, binding":              {[]change{policy("p", "no"), binding("b", "p")}, []string{"p/b: no"}},
		"binding, policy":              {[]change{binding("b", "p"), policy("p", "no")}, []string{"p/b: no"}},
		"binding to another":           {[]change{policy("p", "no"), binding("b", "q")}, nil},
		"changed policy":               {[]change{policy("p", "no"), binding("b", "p"), policy("p", "never")}, []string{"p/b: never"}},
		"deleted policy":               {[]change{policy("p", "no"), binding("b", "p"), noPolicy("p")}, nil},
		"recreated policy":             {[]change{policy("p", "no"), binding("b", "p"), noPolicy("p"), policy("p", "never")}, []string{"p/b: never"}},
		"deleted binding":              {[]change{policy("p", "no"), binding("b", "p"), noBinding("b")}, nil},
		"recreated binding":            {[]change{policy("p", "no"), binding("b", "p"), noBinding("b"), binding("b", "p")}, []string{"p/b: no"}},
		"one of two bindings deleted":  {[]change{policy("p", "no"), binding("b", "p"), binding("c", "p"), noBinding("b")}, []string{"p/c: no"}},
		"binding set twice":            {[]change{policy("p", "no"), binding("b", "p"), binding("b", "p")}, []string{"p/b: no"}},
		"binding moved":                {[]change{policy("p", "no"), policy("q", "never"), binding("b", "p"), binding("b", "q")}, []string{"q/b: never"}},
		"binding moved before policy":  {[]change{policy("p", "no"), binding("b", "p"), binding("b", "q"), policy("q", "never")}, []string{"q/b: never"}},
		"binding moved and back":       {[]change{policy("p", "no"), binding("b", "p"), binding("b", "q"), binding("b", "p")}, []string{"p/b: no"}},
		"binding moved and deleted":    {[]change{policy("p", "no"), policy("q", "no"), binding("b", "p"), binding("b", "q"), noBinding("b")}, nil},
		"binding to no policy deleted": {[]change{policy("", "no"), binding("b", ""), noBinding("b")}, nil},
		"deletions of what is not":     {[]change{policy("p", "no"), binding("b", "p"), noPolicy("q"), noBinding("c")}, []string{"p/b: no"}},
		"deletions in another order":   {[]change{policy("p", "no"), binding("b", "p"), noPolicy("p"), noBinding("b"), policy("p", "no")}, nil},
		"same names":                   {[]change{policy("a", "no"), binding("a", "a")}, []string{"a/a: no"}},
		"order": {
			[]change{binding("z", "b"), policy("c", "3"), policy("b", "2"), binding("a", "c"), binding("y", "b"), binding("m", "a"), policy("a", "1"), binding("x", "b")},
			[]string{"a/m: 1", "b/x: 2", "b/y: 2", "b/z: 2", "c/a: 3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(false, nil)
			for _, change := range test.changes {
				change(s)
			}
			if got := denials(t, s.Snapshot()); !slices.Equal(got, test.want) {
				t.Errorf("in effect: %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	s := newStore(false, nil, denyingWith("a", "1"), denyingWith("b", "2"), denyingWith("c", "3"),
		policytest.Binding("a", "a"), policytest.Binding("b", "b"), policytest.Binding("c", "c"))
	selection := policy.NewSelection("c", "a", "unknown")
	expect := func(selection *policy.Selection, want ...string) {
		t.Helper()
		if got := denials(t, s.Snapshot().Select(selection)); !slices.Equal(got, want) {
			t.Errorf("in effect: %q\nwant %q", got, want)
		}
	}
	expect(selection, "a/a: 1", "c/c: 3")
	expect(selection, "a/a: 1", "c/c: 3")
	s.Set(denyingWith("c", "4"))
	expect(selection, "a/a: 1", "c/c: 4")
	s.DeleteBinding("a")
	expect(selection, "c/c: 4")
	expect(policy.NewSelection())
	expect(nil, "b/b: 2", "c/c: 4")
}

func TestSnapshotStays(t *testing.T) {
	s := newStore(false, nil)
	changes := []func(){
		func() { s.Set(denyingWith("b", "1")) },
		func() { s.Set(denyingWith("c", "2")) },
		func() { s.Set(policytest.Binding("c", "c")) },
		func() { s.Set(denyingWith("a", "3")) },
		func() { s.Set(policytest.Binding("a", "a")) },
		func() { s.Set(denyingWith("c", "4")) },
		func() { s.Set(policytest.Binding("c", "a")) },
		func() { s.DeletePolicy("a") },
		func() { s.DeleteBinding("c") },
	}
	// Bindings are added and deleted at slice lengths below and at capacity.
	for _, name := range strings.Split("hgfedcba", "") {
		changes = append(changes, func() { s.Set(policytest.Binding("on-"+name, "b")) })
	}
	for _, name := range strings.Split("dahbc", "") {
		changes = append(changes, func() { s.DeleteBinding("on-" + name) })
	}
	var snapshots []*snapshot
	var before [][]string
	for _, change := range changes {
		change()
		snapshots = append(snapshots, s.Snapshot())
		before = append(before, denials(t, s.Snapshot()))
	}
	for i, snapshot := range snapshots {
		if got := denials(t, snapshot); !slices.Equal(got, before[i]) {
			t.Errorf("snapshot %d has become %q, was %q", i, got, before[i])
		}
	}
	if want := []string{"b/on-e: 1", "b/on-f: 1", "b/on-g: 1"}; !slices.Equal(before[len(before)-1], want) {
		t.Errorf("at last, in effect: %q, want %q", before[len(before)-1], want)
	}
}

// While the store changes concurrently, each request reads one consistent snapshot. A change is in
// effect when the method that makes it returns.
func TestStoreConcurrently(t *testing.T) {
	s := newStore(false, nil, denyingWith("fixed", "always"), policytest.Binding("fixed", "fixed"))
	var writers, readers sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint("p", i)
		writers.Go(func() {
			for n := range 20 {
				message := fmt.Sprint(name, "-", n)
				s.Set(denyingWith(name, message))
				s.Set(policytest.Binding(name, name))
				if got := denials(t, s.Snapshot()); !slices.Contains(got, name+"/"+name+": "+message) {
					t.Errorf("after %s was set, in effect: %q", message, got)
				}
				s.Set(policytest.Binding(name, "other"))
				if n%2 == 0 {
					s.DeletePolicy(name)
				}
				if got := denials(t, s.Snapshot()); slices.ContainsFunc(got, func(d string) bool { return strings.HasPrefix(d, name+"/") }) {
					t.Errorf("after %s was unbound, in effect: %q", message, got)
				}
				s.DeleteBinding(name)
			}
		})
	}
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				got := denials(t, s.Snapshot())
				if !slices.IsSorted(got) || !slices.Contains(got, "fixed/fixed: always") {
					t.Errorf("in effect: %q", got)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got, want := denials(t, s.Snapshot()), []string{"fixed/fixed: always"}; !slices.Equal(got, want) {
		t.Errorf("at last, in effect: %q, want %q", got, want)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/params"
	"celador.io/admission/policyspec"
	"celador.io/admission/validating"
)

// saying returns a policy that denies all requests with a message.
func saying(name, message string) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", Message: message}}})
}

// inEffect returns the denials of the policies of a snapshot, in the form "policy/binding: message".
func inEffect(t *testing.T, snapshot *validating.Snapshot) []string {
	t.Helper()
	var result []string
	for _, d := range evaluate(t, newServer(), create(1), snapshot).Decisions() {
		result = append(result, d.Policy+"/"+d.Binding+": "+d.Message)
	}
	return result
}

func TestStore(t *testing.T) {
	type change = func(*validating.Store)
	policy := func(name, message string) change {
		return func(s *validating.Store) { s.SetPolicy(saying(name, message)) }
	}
	binding := func(name, policy string) change {
		return func(s *validating.Store) { s.SetBinding(policytest.Binding(name, policy)) }
	}
	noPolicy := func(name string) change { return func(s *validating.Store) { s.DeletePolicy(name) } }
	noBinding := func(name string) change { return func(s *validating.Store) { s.DeleteBinding(name) } }
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
			s := store()
			for _, change := range test.changes {
				change(s)
			}
			if got := inEffect(t, s.Snapshot()); !slices.Equal(got, test.want) {
				t.Errorf("in effect: %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestSnapshotStays(t *testing.T) {
	s := store()
	changes := []func(){
		func() { s.SetPolicy(saying("b", "1")) },
		func() { s.SetPolicy(saying("c", "2")) },
		func() { s.SetBinding(policytest.Binding("c", "c")) },
		func() { s.SetPolicy(saying("a", "3")) },
		func() { s.SetBinding(policytest.Binding("a", "a")) },
		func() { s.SetPolicy(saying("c", "4")) },
		func() { s.SetBinding(policytest.Binding("c", "a")) },
		func() { s.DeletePolicy("a") },
		func() { s.DeleteBinding("c") },
	}
	// Bindings are added and deleted at slice lengths below and at capacity.
	for _, name := range strings.Split("hgfedcba", "") {
		changes = append(changes, func() { s.SetBinding(policytest.Binding("on-"+name, "b")) })
	}
	for _, name := range strings.Split("dahbc", "") {
		changes = append(changes, func() { s.DeleteBinding("on-" + name) })
	}
	var snapshots []*validating.Snapshot
	var before [][]string
	for _, change := range changes {
		change()
		snapshots = append(snapshots, s.Snapshot())
		before = append(before, inEffect(t, s.Snapshot()))
	}
	for i, snapshot := range snapshots {
		if got := inEffect(t, snapshot); !slices.Equal(got, before[i]) {
			t.Errorf("snapshot %d has become %q, was %q", i, got, before[i])
		}
	}
	if want := []string{"b/on-e: 1", "b/on-f: 1", "b/on-g: 1"}; !slices.Equal(before[len(before)-1], want) {
		t.Errorf("at last, in effect: %q, want %q", before[len(before)-1], want)
	}
}

// While the store changes concurrently, each request reads one consistent snapshot. A change is in effect
// when the method that makes it returns.
func TestStoreConcurrently(t *testing.T) {
	s := store(saying("fixed", "always"), policytest.Binding("fixed", "fixed"))
	var writers, readers sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint("p", i)
		writers.Go(func() {
			for n := range 20 {
				message := fmt.Sprint(name, "-", n)
				s.SetPolicy(saying(name, message))
				s.SetBinding(policytest.Binding(name, name))
				if got := inEffect(t, s.Snapshot()); !slices.Contains(got, name+"/"+name+": "+message) {
					t.Errorf("after %s was set, in effect: %q", message, got)
				}
				s.SetBinding(policytest.Binding(name, "other"))
				if n%2 == 0 {
					s.DeletePolicy(name)
				}
				if got := inEffect(t, s.Snapshot()); slices.ContainsFunc(got, func(d string) bool { return strings.HasPrefix(d, name+"/") }) {
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
				got := inEffect(t, s.Snapshot())
				if !slices.IsSorted(got) || !slices.Contains(got, "fixed/fixed: always") {
					t.Errorf("in effect: %q", got)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got, want := inEffect(t, s.Snapshot()), []string{"fixed/fixed: always"}; !slices.Equal(got, want) {
		t.Errorf("at last, in effect: %q, want %q", got, want)
	}
}

// watched is a params.Source that records which kinds are open.
type watched struct {
	*objects
	opened, closed func()
}

type watchedKind struct {
	params.Kind
	closed func()
}

func (w *watched) Open(gvk schema.GroupVersionKind) params.Kind {
	w.opened()
	return &watchedKind{w.objects.Open(gvk), w.closed}
}

func (k *watchedKind) Close() {
	k.closed()
	k.Kind.Close()
}

// A changed binding has no moment without effect. A paramKind that is still needed stays open, because
// requests would have to wait until the informer of a reopened kind is synced.
func TestChangedBinding(t *testing.T) {
	var s *validating.Store
	var steps []string
	step := func(name string) func() {
		return func() {
			steps = append(steps, name+" "+fmt.Sprint(through(evaluate(t, newServer(), create(5), s.Snapshot()).Decisions())))
		}
	}
	s = validating.NewEngine(validating.Config{Compiler: compiler(), Params: &watched{newObjects(), step("open"), step("close")}}).NewStore()
	p, q := limiting(limits), limiting(allLimits)
	q.Name = "q"
	s.SetPolicy(p)
	s.SetPolicy(q)
	s.SetBinding(withParams(policytest.Binding("b", "p"), named("", "none")))
	s.SetBinding(withParams(policytest.Binding("b", "p"), named("", "low")))
	s.SetBinding(withParams(policytest.Binding("b", "q"), named("", "all")))
	s.DeleteBinding("b")
	if want := []string{"open []", "open [b]", "close [b]", "close []"}; !slices.Equal(steps, want) {
		t.Errorf("kinds are opened and closed, with bindings in effect: %q, want %q", steps, want)
	}
}

// Bindings with equal match resources may differ in the other fields.
func TestSharedMatchResources(t *testing.T) {
	blue := inNamespaces("blue")
	in := func(name string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
		b := withParams(policytest.Binding(name, "p", actions...), named("", "low"))
		b.Spec.MatchResources = blue
		return b
	}
	for name, test := range map[string]struct {
		objects []any
		want    []string
	}{
		"equals":         {[]any{in("a"), in("b")}, []string{"a: Limit low: 3 [Deny]", "b: Limit low: 3 [Deny]"}},
		"actions":        {[]any{in("a"), in("b", v1.Audit, v1.Warn), in("c", v1.Warn, v1.Audit)}, []string{"a: Limit low: 3 [Deny]", "b: Limit low: 3 [Audit Warn]", "c: Limit low: 3 [Warn Audit]"}},
		"params":         {[]any{in("a"), withParams(in("b"), named("red", "low")), withParams(in("c"), nil)}, []string{"a: Limit low: 3 [Deny]", "b: Limit low: 2 [Deny]", "c: no params [Deny]"}},
		"params, later":  {[]any{withParams(in("c"), nil), in("a")}, []string{"a: Limit low: 3 [Deny]", "c: no params [Deny]"}},
		"fallback":       {[]any{in("b"), fallback(in("a"))}, []string{"b: Limit low: 3 [Deny]"}},
		"fallback first": {[]any{fallback(in("a")), in("b")}, []string{"b: Limit low: 3 [Deny]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeWith(policyspec.Features{policyspec.FallbackBinding: true}, newObjects(), append(test.objects, limiting(limits))...)
			var got []string
			for _, d := range evaluate(t, newServer(), create(5), s.Snapshot()).Decisions() {
				got = append(got, fmt.Sprintf("%s: %s %v", d.Binding, d.Message, d.Actions))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Policies can be compiled while requests evaluate the variables of other policies.
func TestVariablesConcurrently(t *testing.T) {
	telling := func(name, text string) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
			Variables:   []v1.Variable{{Name: "text", Expression: "'" + text + "'"}, {Name: name, Expression: "variables.text + ' '"}},
			Validations: []v1.Validation{{Expression: "!has(variables." + name + ")", MessageExpression: "variables." + name + " + variables.text"}},
		})
	}
	s := store()
	var writers sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint("p", i)
		s.SetBinding(policytest.Binding(name, name))
		writers.Go(func() {
			for n := range 20 {
				text := fmt.Sprint(n)
				s.SetPolicy(telling(name, text))
				if want, got := name+"/"+name+": "+text+" "+text, inEffect(t, s.Snapshot()); !slices.Contains(got, want) {
					t.Errorf("in effect: %q, want %q", got, want)
				}
			}
		})
	}
	writers.Wait()
}

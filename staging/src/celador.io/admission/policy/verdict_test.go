// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/policytest"
)

// version is a generation of policy "p" that denies everything.
func version(uid types.UID, generation int64, mode *v1.TypeCheckingMode) *v1.ValidatingAdmissionPolicy {
	p := denyingWith("p", fmt.Sprintf("no by %s/%d", uid, generation))
	p.UID, p.Generation, p.Spec.TypeChecking = uid, generation, mode
	return p
}

func TestVerdicts(t *testing.T) {
	type change = func(*store)
	set := func(mode *v1.TypeCheckingMode) func(types.UID, int64) change {
		return func(uid types.UID, generation int64) change {
			return func(s *store) { s.Set(version(uid, generation, mode)) }
		}
	}
	enforced, informational, unset := set(new(v1.EnforcedTypeChecking)), set(new(v1.InformationalTypeChecking)), set(nil)
	right := func(uid types.UID, generation int64) change {
		return func(s *store) { s.SetVerdict("p", uid, generation, nil) }
	}
	wrong := func(uid types.UID, generation int64) change {
		return func(s *store) {
			s.SetVerdict("p", uid, generation, fmt.Errorf("wrong in %s/%d", uid, generation))
		}
	}
	deleted := func(s *store) { s.DeletePolicy("p") }
	forgotten := func(s *store) { s.ForgetVerdict("p") }
	others := func(s *store) {
		s.SetVerdict("q", "a", 1, errors.New("wrong in another"))
		s.ForgetVerdict("q")
	}
	const (
		unchecked = "p/: failed to configure policy: policy has not been type checked yet"
		wrongInA1 = "p/: failed to configure policy: wrong in a/1"
		wrongInA2 = "p/: failed to configure policy: wrong in a/2"
	)
	for name, test := range map[string]struct {
		off     bool
		changes []change
		want    string
	}{
		"no verdict":                            {changes: []change{enforced("a", 1)}, want: unchecked},
		"no verdict, informational":             {changes: []change{informational("a", 1)}, want: "p/b: no by a/1"},
		"no verdict, unset":                     {changes: []change{unset("a", 1)}, want: "p/b: no by a/1"},
		"no verdict, off":                       {off: true, changes: []change{enforced("a", 1)}, want: "p/b: no by a/1"},
		"right":                                 {changes: []change{enforced("a", 1), right("a", 1)}, want: "p/b: no by a/1"},
		"wrong":                                 {changes: []change{enforced("a", 1), wrong("a", 1)}, want: wrongInA1},
		"wrong, informational":                  {changes: []change{informational("a", 1), wrong("a", 1)}, want: "p/b: no by a/1"},
		"wrong, off":                            {off: true, changes: []change{enforced("a", 1), wrong("a", 1)}, want: "p/b: no by a/1"},
		"right, then wrong":                     {changes: []change{enforced("a", 1), right("a", 1), wrong("a", 1)}, want: wrongInA1},
		"wrong, then right":                     {changes: []change{enforced("a", 1), wrong("a", 1), right("a", 1)}, want: "p/b: no by a/1"},
		"early":                                 {changes: []change{right("a", 1), enforced("a", 1)}, want: "p/b: no by a/1"},
		"early, wrong":                          {changes: []change{wrong("a", 1), enforced("a", 1)}, want: wrongInA1},
		"early, twice":                          {changes: []change{wrong("a", 1), right("a", 1), enforced("a", 1)}, want: "p/b: no by a/1"},
		"early, forgotten":                      {changes: []change{right("a", 1), forgotten, enforced("a", 1)}, want: unchecked},
		"early on an older generation":          {changes: []change{right("a", 1), enforced("a", 2)}, want: "p/b: no by a/2"},
		"next generation":                       {changes: []change{enforced("a", 1), right("a", 1), enforced("a", 2)}, want: "p/b: no by a/2"},
		"next generation after wrong":           {changes: []change{enforced("a", 1), wrong("a", 1), enforced("a", 2)}, want: wrongInA1},
		"next generation, wrong":                {changes: []change{enforced("a", 1), right("a", 1), enforced("a", 2), wrong("a", 2)}, want: wrongInA2},
		"next generation, repaired":             {changes: []change{enforced("a", 1), wrong("a", 1), enforced("a", 2), right("a", 2)}, want: "p/b: no by a/2"},
		"late on an older generation":           {changes: []change{enforced("a", 2), wrong("a", 1)}, want: wrongInA1},
		"next generation, early":                {changes: []change{enforced("a", 1), right("a", 1), wrong("a", 2)}, want: "p/b: no by a/1"},
		"next generation, early, in effect":     {changes: []change{enforced("a", 1), right("a", 1), wrong("a", 2), enforced("a", 2)}, want: wrongInA2},
		"next generation, early, repaired":      {changes: []change{enforced("a", 1), wrong("a", 1), right("a", 2), enforced("a", 2)}, want: "p/b: no by a/2"},
		"generation after next, early":          {changes: []change{enforced("a", 1), wrong("a", 1), right("a", 3), enforced("a", 2)}, want: wrongInA1},
		"becomes enforced":                      {changes: []change{informational("a", 1), wrong("a", 1), enforced("a", 2)}, want: wrongInA1},
		"no longer enforced":                    {changes: []change{enforced("a", 1), wrong("a", 1), unset("a", 2)}, want: "p/b: no by a/2"},
		"deleted":                               {changes: []change{enforced("a", 1), wrong("a", 1), deleted}},
		"recreated":                             {changes: []change{enforced("a", 1), right("a", 1), deleted, enforced("b", 1)}, want: unchecked},
		"recreated after wrong":                 {changes: []change{enforced("a", 1), wrong("a", 1), deleted, enforced("b", 1)}, want: unchecked},
		"recreated after wrong, not enforced":   {changes: []change{enforced("a", 1), wrong("a", 1), deleted, unset("b", 1)}, want: "p/b: no by b/1"},
		"recreated unseen":                      {changes: []change{enforced("a", 1), right("a", 1), enforced("b", 1)}, want: unchecked},
		"recreated, early":                      {changes: []change{enforced("a", 1), wrong("a", 1), right("b", 1), deleted, enforced("b", 1)}, want: "p/b: no by b/1"},
		"recreated, early, not deleted yet":     {changes: []change{enforced("a", 1), wrong("a", 1), right("b", 1)}, want: wrongInA1},
		"recreated, late on the one before":     {changes: []change{enforced("b", 1), right("b", 1), wrong("a", 9)}, want: "p/b: no by b/1"},
		"recreated, late on the one before, on": {changes: []change{enforced("b", 1), wrong("a", 9), enforced("b", 10)}, want: unchecked},
		"late after deletion":                   {changes: []change{enforced("a", 1), deleted, right("a", 1), enforced("b", 1)}, want: unchecked},
		"of another policy":                     {changes: []change{enforced("a", 1), right("a", 1), others}, want: "p/b: no by a/1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(!test.off, nil, policytest.Binding("b", "p"))
			for _, change := range test.changes {
				change(s)
			}
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			if got := denials(t, s.Snapshot()); !slices.Equal(got, want) {
				t.Errorf("in effect: %q\nwant %q", got, want)
			}
		})
	}
}

// What else is wrong with a policy is said first, and no verdict makes up for it.
func TestVerdictOnInvalidPolicy(t *testing.T) {
	p := version("a", 1, new(v1.EnforcedTypeChecking))
	p.Spec.MatchConstraints = nil
	s := newStore(true, nil, p, policytest.Binding("b", "p"))
	want := []string{"p/: failed to configure policy: policy contained no match constraints, a required field"}
	for _, verdict := range []error{nil, errors.New("wrong")} {
		s.SetVerdict("p", "a", 1, verdict)
		if got := denials(t, s.Snapshot()); !slices.Equal(got, want) {
			t.Errorf("in effect: %q\nwant %q", got, want)
		}
	}
}

func TestCountsOfVerdicts(t *testing.T) {
	s := newStore(true, nil, version("a", 1, new(v1.EnforcedTypeChecking)), denyingWith("q", "no"), policytest.Binding("b", "p"), policytest.Binding("c", "q"))
	for _, step := range []struct {
		name   string
		change func()
		want   map[string]int
	}{
		{"unchecked", func() {}, map[string]int{"active": 1, "invalid": 1, "unbound": 0}},
		{"right", func() { s.SetVerdict("p", "a", 1, nil) }, map[string]int{"active": 2, "invalid": 0, "unbound": 0}},
		{"wrong", func() { s.SetVerdict("p", "a", 1, errors.New("wrong")) }, map[string]int{"active": 1, "invalid": 1, "unbound": 0}},
		{"wrong, but unbound", func() { s.DeleteBinding("b") }, map[string]int{"active": 1, "invalid": 0, "unbound": 1}},
	} {
		step.change()
		if policies, _ := s.Counts(); !cmp.Equal(step.want, policies) {
			t.Errorf("%s: counts are %v, want %v", step.name, policies, step.want)
		}
	}
}

// Snapshots are not touched by later verdicts, and a verdict that says what the one before
// said makes no new snapshot: requests are undisturbed by checks that find the same.
func TestSnapshotsAndVerdicts(t *testing.T) {
	s := newStore(true, nil, version("a", 1, new(v1.EnforcedTypeChecking)), policytest.Binding("b", "p"))
	unchecked := s.Snapshot()
	s.SetVerdict("p", "a", 1, nil)
	right := s.Snapshot()
	s.SetVerdict("p", "a", 1, nil)
	if s.Snapshot() != right {
		t.Error("a verdict that changes nothing makes a snapshot")
	}
	s.SetVerdict("p", "a", 1, errors.New("wrong"))
	wrong := s.Snapshot()
	s.SetVerdict("p", "a", 1, errors.New("wrong"))
	if s.Snapshot() != wrong {
		t.Error("a verdict with the same text makes a snapshot")
	}
	s.SetVerdict("p", "a", 1, errors.New("wrong in another way"))
	for i, snapshot := range []*snapshot{unchecked, right, wrong, s.Snapshot()} {
		want := []string{"failed to configure policy: policy has not been type checked yet", "no by a/1", "failed to configure policy: wrong", "failed to configure policy: wrong in another way"}[i]
		if got := denials(t, snapshot); len(got) != 1 || !strings.HasSuffix(got[0], ": "+want) {
			t.Errorf("in effect in snapshot %d: %q, want %q", i, got, want)
		}
	}
}

// Policies and verdicts on them come from goroutines that know nothing of each other. Once
// both are done, the last verdict is in effect.
func TestVerdictsConcurrently(t *testing.T) {
	const generations = 50
	s := newStore(true, nil, policytest.Binding("b", "p"))
	var done sync.WaitGroup
	done.Go(func() {
		for g := range int64(generations) {
			s.Set(version("a", g+1, new(v1.EnforcedTypeChecking)))
		}
	})
	done.Go(func() {
		for g := range int64(generations) {
			s.SetVerdict("p", "a", g+1, fmt.Errorf("wrong in %d", g+1))
		}
	})
	done.Go(func() {
		for range generations {
			denials(t, s.Snapshot())
		}
	})
	done.Wait()
	if got, want := denials(t, s.Snapshot()), fmt.Sprintf("p/: failed to configure policy: wrong in %d", generations); !slices.Equal(got, []string{want}) {
		t.Errorf("in effect: %q, want %s", got, want)
	}
}

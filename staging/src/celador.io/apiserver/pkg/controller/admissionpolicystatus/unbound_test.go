// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"
)

// unboundEvents returns the notes of the events about policies and bindings without effect, with
// what they regard.
func (c *cluster) unboundEvents(t *testing.T) []string {
	t.Helper()
	var notes []string
	for _, e := range c.events(t) {
		if e.Reason == "NotBound" || e.Reason == "PolicyNotFound" {
			if e.Regarding.UID == "" || e.EventTime.IsZero() || e.ReportingController == "" || e.Type != "Warning" {
				t.Errorf("event is incomplete: %v", e)
			}
			notes = append(notes, e.Regarding.Kind+" "+e.Regarding.Name+": "+e.Note)
		}
	}
	slices.Sort(notes)
	return notes
}

// The controller records one event about each policy and binding that has had no effect for some
// time.
func TestUnbound(t *testing.T) {
	const (
		policyNote  = `ValidatingAdmissionPolicy p: The policy has no effect: no ValidatingAdmissionPolicyBinding has spec.policyName "p"`
		bindingNote = `ValidatingAdmissionPolicyBinding b: The binding has no effect: there is no ValidatingAdmissionPolicy "q"`
	)
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, fitting, "{}"))
		b := policytest.Binding("b", "q", v1.Deny)
		b.UID = "b-uid"
		if err := c.policies.Tracker().Add(b); err != nil {
			t.Fatal(err)
		}
		expect := func(what string, want ...string) {
			t.Helper()
			time.Sleep(time.Minute) // of the bubble
			synctest.Wait()
			if got := c.unboundEvents(t); !slices.Equal(got, want) {
				t.Errorf("%s: got events %q, want %q", what, got, want)
			}
		}
		c.run(t)
		expect("everything has an effect")
		c.verdicts.setIneffective([]string{"p"}, []string{"b"})
		expect("after the second look", policyNote, bindingNote)
		expect("later", policyNote, bindingNote)

		// Another server, or this one after a restart, finds the events.
		c.verdicts.setIneffective(nil, nil)
		expect("bound again", policyNote, bindingNote)
		c.verdicts.setIneffective([]string{"p"}, []string{"b"})
		expect("unbound again", policyNote, bindingNote)
		for _, e := range c.events(t) {
			if err := c.kube.EventsV1().Events(e.Namespace).Delete(t.Context(), e.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		c.verdicts.setIneffective(nil, nil)
		expect("bound, and the events have expired")
		c.verdicts.setIneffective([]string{"p", "deleted"}, []string{"b", "deleted"})
		expect("unbound, and some deleted meanwhile", policyNote, bindingNote)
	})
}

// A binding that follows its policy within a while causes no event.
func TestBoundSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, fitting, "{}"))
		c.run(t)
		c.verdicts.setIneffective([]string{"p"}, nil)
		time.Sleep(25 * time.Second) // of the bubble
		c.verdicts.setIneffective(nil, nil)
		time.Sleep(time.Hour) // of the bubble
		synctest.Wait()
		if got := c.unboundEvents(t); len(got) > 0 {
			t.Errorf("got events %q", got)
		}
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
)

// A replica that does not lead gives its engine verdicts, and leaves statuses and events to the
// leader. When it begins to lead, it writes what it has found before.
func TestLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onGadgets, "{}"))
		c.record(t)
		c.follows = true
		c.verdicts.setIneffective([]string{"p"}, nil)
		lead := func() (resign context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c.controller.WriteStatus(ctx)
			}()
			return func() {
				cancel()
				<-ended
			}
		}
		change := func(generation int64) {
			t.Helper()
			resource := v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies")
			current, err := c.policies.Tracker().Get(resource, "", "p")
			if err != nil {
				t.Fatal(err)
			}
			changed := current.DeepCopyObject().(*v1.ValidatingAdmissionPolicy)
			changed.Generation = generation
			if err := c.policies.Tracker().Update(resource, changed, ""); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(when string, events int, verdicts []string, written ...int64) {
			t.Helper()
			time.Sleep(2 * time.Minute) // of the bubble
			synctest.Wait()
			c.expectVerdicts(t, verdicts...)
			var got []int64
			for _, p := range c.patches(t) {
				got = append(got, find(p.Status.Conditions, "Available").ObservedGeneration)
			}
			c.policies.ClearActions()
			if !slices.Equal(got, written) {
				t.Errorf("%s: statuses of generations %d are written, want %d", when, got, written)
			}
			if got := len(c.events(t)); got != events {
				t.Errorf("%s: there are %d events, want %d", when, got, events)
			}
		}
		verdict := func(generation string) []string {
			return []string{"ValidatingAdmissionPolicy p p-uid " + generation + ": <nil>"}
		}

		c.run(t)
		expect("before it leads", 0, verdict("2"))
		resign := lead()
		expect("when it begins to lead", 2, nil, 2)
		change(3)
		expect("while it leads", 2, verdict("3"), 3)
		resign()
		change(4)
		expect("after it has resigned", 2, verdict("4"))
		defer lead()()
		expect("when it leads again", 2, nil, 4)
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "celador.io/api/admissionregistration/v1"
)

// change stores a new generation of policy p, some time after the last change.
func (c *cluster) change(t *testing.T, p *v1.ValidatingAdmissionPolicy, after time.Duration) {
	t.Helper()
	time.Sleep(after) // of the bubble
	p.Generation++
	p.ResourceVersion = fmt.Sprint(p.Generation)
	if err := c.policies.Tracker().Update(v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"), p.DeepCopy(), ""); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// writtenGenerations returns the generations whose status was written since the last call. The fake
// API server does not store the status, so the controller may write one more than once.
func (c *cluster) writtenGenerations(t *testing.T) []int64 {
	t.Helper()
	synctest.Wait()
	var generations []int64
	for _, p := range c.patches(t) {
		generations = append(generations, p.Status.ObservedGeneration)
	}
	c.policies.ClearActions()
	return slices.Compact(generations)
}

func (c *cluster) expectGenerations(t *testing.T, when string, want ...int64) {
	t.Helper()
	if got := c.writtenGenerations(t); !slices.Equal(got, want) {
		t.Errorf("%s: statuses are written of generations %v, want %v", when, got, want)
	}
}

const lagging = `{` + onDeployments + `validations: [{expression: object.spec.replicas < 5}]}`

// A change is checked at once unless it follows a check closely. Then the last of several is
// checked when there are no more.
func TestChangesInQuickSuccession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, lagging, "{}")
		c := newCluster(t, p)
		c.run(t)
		c.expectGenerations(t, "at first", 2)
		c.change(t, p, time.Minute)
		c.expectGenerations(t, "a change", 3)
		for range 4 {
			c.change(t, p, time.Second)
		}
		c.expectGenerations(t, "changes each second")
		time.Sleep(2 * time.Second) // of the bubble
		c.expectGenerations(t, "2 seconds after the last", 7)
		c.change(t, p, 2*time.Second)
		c.expectGenerations(t, "2 seconds after the check", 8)
	})
}

// A policy that never stops changing is checked each minute.
func TestPolicyThatKeepsChanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, lagging, "{}")
		c := newCluster(t, p)
		c.run(t)
		c.change(t, p, 500*time.Millisecond)
		c.expectGenerations(t, "at first", 2, 3)
		for range 3 * 60 {
			c.change(t, p, time.Second)
		}
		if got := len(c.writtenGenerations(t)); got != 3 {
			t.Errorf("%d statuses are written in 3 minutes, want 3", got)
		}
	})
}

// Delays do not keep a policy that keeps changing from reporting that an aggregated server does not
// answer.
func TestPolicyThatKeepsChangingWithoutTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy(t, onMetrics, "{}")
		c := newCluster(t, p)
		c.aggregated = []string{metrics.String()}
		c.down(metrics.String())
		c.start(t)
		for range 5 {
			c.change(t, p, 3*time.Second)
		}
		if got := c.reasons(t); len(got) == 0 || got[0] != "TypesUnavailable TypesUnavailable" {
			t.Errorf("got statuses %q, want them to report unavailable types", got)
		}
	})
}

// Changes are checked at once if requests wait for the verdict, or the policy is another of the
// same name.
func TestChangesThatAreCheckedAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   string
		change func(*v1.ValidatingAdmissionPolicy)
	}{
		"enforced": {`{typeChecking: Enforced, ` + lagging[1:], func(*v1.ValidatingAdmissionPolicy) {}},
		"another":  {lagging, func(p *v1.ValidatingAdmissionPolicy) { p.UID += types.UID("x") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := policy(t, tc.spec, "{}")
				c := newCluster(t, p)
				c.enforce = true
				c.run(t)
				c.expectGenerations(t, "at first", 2)
				for generation := range 3 {
					tc.change(p)
					c.change(t, p, time.Second)
					c.expectGenerations(t, "a change", int64(3+generation))
				}
			})
		})
	}
}

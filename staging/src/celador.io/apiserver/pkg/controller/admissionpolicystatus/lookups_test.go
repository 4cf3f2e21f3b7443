// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	v1 "celador.io/api/admissionregistration/v1"
)

const lookingUp = `{` + onDeployments + `
lookups: [{name: deployments, apiVersion: apps/v1, kind: Deployment}, {name: widgets, apiVersion: example.com/v1, kind: Widget}],
validations: [{expression: object.spec.replicas < 5}]}`

// available returns the statuses and texts of condition Available in the writes so far.
func (c *cluster) available(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, p := range c.patches(t) {
		condition := meta.FindStatusCondition(p.Status.Conditions, v1.PolicyConditionAvailable)
		all = append(all, fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message))
	}
	return all
}

// A policy is not available while the objects of a lookup are not known, and available afterwards.
func TestUnknownLookups(t *testing.T) {
	const (
		configured  = "True Configured: "
		unavailable = "False LookupsUnavailable: spec.lookups[0]: not known yet"
		both        = "False LookupsUnavailable: spec.lookups[0]: not known yet\nspec.lookups[1]: no index yet"
		notServed   = "False Misconfigured: spec.lookups[1]: no custom resource definition or API server serves kind Widget of example.com/v1"
	)
	for name, tc := range map[string]struct {
		// before are the reasons when the controller starts, status is the recorded status, and
		// undefined is set if there is no definition of widgets.
		before    map[int]string
		status    string
		undefined bool
		// steps are the reasons that follow one another.
		steps []map[int]string
		want  []string
	}{
		"known":                       {want: []string{configured}},
		"not known, then known":       {before: map[int]string{0: "not known yet"}, steps: []map[int]string{nil}, want: []string{configured, unavailable, configured}},
		"not known later":             {steps: []map[int]string{{0: "not known yet"}, nil}, want: []string{configured, unavailable, configured}},
		"another reason":              {steps: []map[int]string{{0: "not known yet"}, {0: "another reason"}}, want: []string{configured, unavailable}},
		"one, then two":               {steps: []map[int]string{{0: "not known yet"}, {0: "not known yet", 1: "no index yet"}, nil}, want: []string{configured, unavailable, both, configured}},
		"not known after a restart":   {status: recorded("2", "{group: example.com, version: v1, kind: Widget, uid: a, generation: 1}"), before: map[int]string{0: "not known yet"}, want: []string{unavailable}},
		"of a kind without resource":  {undefined: true, steps: []map[int]string{{1: "no resource"}, nil}, want: []string{notServed}},
		"and of one without resource": {undefined: true, steps: []map[int]string{{0: "not known yet", 1: "no resource"}, nil}, want: []string{notServed, notServed + "\nspec.lookups[0]: not known yet", notServed}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if tc.status == "" {
					tc.status = "{}"
				}
				c := newCluster(t, policy(t, lookingUp, tc.status))
				if !tc.undefined {
					definition := widgets(t, "a", 1, "{size: {type: integer}}")
					c.define(t, definition)
					c.store(t, definition)
				}
				c.record(t)
				c.verdicts.setUnknown(tc.before)
				c.run(t)
				for _, reasons := range tc.steps {
					c.verdicts.setUnknown(reasons)
					c.settle()
				}
				if got := c.available(t); !slices.Equal(got, tc.want) {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// Objects that are known within a second, as those of most kinds, change no status, and those of an
// earlier generation of the policy do not count.
func TestLookupsKnownSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, fitting, "{}"))
		c.record(t)
		c.run(t)
		for range 10 {
			c.verdicts.setUnknown(map[int]string{0: "not known yet"})
			time.Sleep(900 * time.Millisecond) // of the bubble
			c.verdicts.setUnknown(nil)
			time.Sleep(time.Second) // of the bubble
		}
		next := policy(t, lookingUp, recorded("2", ""))
		next.Generation = 3
		resource := v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies")
		if err := c.policies.Tracker().Update(resource, next, ""); err != nil {
			t.Fatal(err)
		}
		c.verdicts.setUnknown(map[int]string{0: "not known yet"}) // of generation 2
		c.settle()
		want := []string{"True Configured: ", "False Misconfigured: spec.lookups[1]: no custom resource definition or API server serves kind Widget of example.com/v1"}
		if got := c.available(t); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

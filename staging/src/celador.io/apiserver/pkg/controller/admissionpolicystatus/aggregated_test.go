// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"
)

var metrics = schema.GroupVersion{Group: "metrics.io", Version: "v1"}

// reasons returns the reasons of both conditions in each written status.
func (c *cluster) reasons(t *testing.T) []string {
	t.Helper()
	var reasons []string
	for _, p := range c.patches(t) {
		reasons = append(reasons, find(p.Status.Conditions, v1.PolicyConditionAvailable).Reason+" "+find(p.Status.Conditions, v1.PolicyConditionTypeChecked).Reason)
	}
	return reasons
}

func expectReasons(t *testing.T, c *cluster, when string, want ...string) {
	t.Helper()
	if got := c.reasons(t); !slices.Equal(got, want) {
		t.Errorf("%s: got statuses %q, want %q", when, got, want)
	}
	c.policies.ClearActions()
}

// The status follows the types of an aggregated server, with one write for each change.
func TestAggregatedTypes(t *testing.T) {
	for name, spec := range map[string]string{
		"matched":    onMetrics,
		"parameters": `{` + onDeployments + `paramKind: {apiVersion: metrics.io/v1, kind: PodMetric}, validations: [{expression: object.spec.replicas < params.usage}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, policy(t, spec, "{}"))
				c.record(t)
				c.run(t)
				expectReasons(t, c, "at first", "Misconfigured TypesNotFound")
				for range 3 {
					c.aggregated = []string{metrics.String()}
					c.controller.AggregatedVersionChanged(metrics)
					c.settle()
					expectReasons(t, c, "when it appears", "Configured NoTypeErrors")
					c.controller.AggregatedVersionChanged(metrics)
					c.settle()
					expectReasons(t, c, "when it stays")
					up := c.down(metrics.String())
					c.controller.AggregatedVersionChanged(metrics)
					time.Sleep(time.Hour) // of the bubble
					c.settle()
					expectReasons(t, c, "when it does not answer")
					up()
					time.Sleep(time.Hour)
					c.settle()
					expectReasons(t, c, "when it answers again")
					c.aggregated = nil
					c.controller.AggregatedVersionChanged(metrics)
					c.settle()
					expectReasons(t, c, "when it goes", "Misconfigured TypesNotFound")
				}
			})
		})
	}
}

// A change of a group version enqueues only the policies that name it.
func TestAggregatedVersionEnqueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onMetrics, "{}")) // the status is not stored, so each check writes one
		c.aggregated = []string{metrics.String()}
		c.run(t)
		c.policies.ClearActions()
		for version, checked := range map[string]bool{"metrics.io/v1": true, "metrics.io/v2": false, "apps/v1": false, "other.io/v1": false} {
			parsed, err := schema.ParseGroupVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			c.controller.AggregatedVersionChanged(parsed)
			c.settle()
			if got := len(c.patches(t)); got > 0 != checked {
				t.Errorf("%s: checked the policy %d times, want some: %t", version, got, checked)
			}
			c.policies.ClearActions()
		}
	})
}

// The schemas of an aggregated server may arrive later than its resources.
func TestAggregatedTypesWithoutSchemas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onMetrics, "{}"))
		c.record(t)
		c.aggregated = []string{metrics.String()}
		c.discovery.undescribed.Store(true)
		before := syncErrors(t)
		c.run(t)
		expectReasons(t, c, "without schemas", "Configured TypesNotFound")
		c.discovery.undescribed.Store(false)
		time.Sleep(time.Minute) // of the bubble
		c.settle()
		expectReasons(t, c, "with schemas", "Configured NoTypeErrors")
		if got := syncErrors(t); got != before {
			t.Errorf("counted %v errors", got-before)
		}
	})
}

// A server keeps the findings of a server of another version about aggregated types.
func TestFindingsOfAnotherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onMetrics, "{}"))
		c.record(t)
		c.aggregated = []string{metrics.String()}
		c.run(t)
		expectReasons(t, c, "at first", "Configured NoTypeErrors")
		client := c.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		for range 3 {
			current, err := client.Get(t.Context(), "p", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			current = current.DeepCopy()
			current.Status.Conditions[1].Status, current.Status.Conditions[1].Reason = metav1.ConditionFalse, v1.PolicyReasonTypeErrors
			if err := c.policies.Tracker().Update(v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"), current, ""); err != nil {
				t.Fatal(err)
			}
			c.settle()
			expectReasons(t, c, "when another one writes")
			c.controller.AggregatedVersionChanged(metrics)
			c.settle()
			expectReasons(t, c, "when nothing has changed since")
		}
	})
}

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

// reasons returns those of both conditions in each status that was written.
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

// The status follows what another server serves, with one write for each change.
func TestServedElsewhere(t *testing.T) {
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
					c.controller.ServedElsewhere(metrics)
					c.settle()
					expectReasons(t, c, "when it appears", "Configured NoTypeErrors")
					c.controller.ServedElsewhere(metrics)
					c.settle()
					expectReasons(t, c, "when it stays")
					up := c.down(metrics.String())
					c.controller.ServedElsewhere(metrics)
					time.Sleep(time.Hour) // of the bubble
					c.settle()
					expectReasons(t, c, "when it does not answer")
					up()
					time.Sleep(time.Hour)
					c.settle()
					expectReasons(t, c, "when it answers again")
					c.aggregated = nil
					c.controller.ServedElsewhere(metrics)
					c.settle()
					expectReasons(t, c, "when it goes", "Misconfigured TypesNotFound")
				}
			})
		})
	}
}

// Changes of group versions that a policy does not name do not have it looked at.
func TestServedElsewhereConcerns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, onMetrics, "{}")) // without a record, every look is a write
		c.aggregated = []string{metrics.String()}
		c.run(t)
		c.policies.ClearActions()
		for version, looked := range map[string]bool{"metrics.io/v1": true, "metrics.io/v2": false, "apps/v1": false, "other.io/v1": false} {
			parsed, err := schema.ParseGroupVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			c.controller.ServedElsewhere(parsed)
			c.settle()
			if got := len(c.patches(t)); got > 0 != looked {
				t.Errorf("%s: looked at the policy %d times, want some: %t", version, got, looked)
			}
			c.policies.ClearActions()
		}
	})
}

// The schemas of another server come later than the server itself.
func TestUndescribedElsewhere(t *testing.T) {
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

// What another version of this server says about another server's types stays.
func TestOthersSayOtherwise(t *testing.T) {
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
			c.controller.ServedElsewhere(metrics)
			c.settle()
			expectReasons(t, c, "when nothing has changed since")
		}
	})
}

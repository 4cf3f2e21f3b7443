// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// A bounded number of slow checks does not delay the checks of other policies. Slow checks write
// the status when they end.
func TestExpensiveChecksDelayNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, policy(t, `{`+onDeployments+`validations: [{expression: object.spec.replicas < 5}]}`, "{}"))
		c.aggregated = []string{"metrics.io/v1"}
		held := make(chan struct{})
		c.discovery.held.Store(&held)
		c.run(t)
		c.expectWritten(t, "at first", "p")

		const slow = 9
		for i := range slow {
			c.add(t, fmt.Sprint("slow", i), onMetrics)
		}
		c.settle()
		c.expectWritten(t, "while types are looked up")
		c.add(t, "cheap", `{`+onDeployments+`validations: [{expression: object.spec.replicas < 5}]}`)
		c.settle()
		c.expectWritten(t, "a cheap policy", "cheap")
		close(held)
		c.settle()
		var all []string
		for i := range slow {
			all = append(all, fmt.Sprint("slow", i))
		}
		c.expectWritten(t, "the others", all...)
	})
}

func (c *cluster) add(t *testing.T, name, spec string) {
	t.Helper()
	p := policy(t, spec, "{}")
	p.Name = name
	if err := c.policies.Tracker().Add(p); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// expectWritten expects that the status of exactly these policies was written since the last call,
// in any order.
func (c *cluster) expectWritten(t *testing.T, when string, want ...string) {
	t.Helper()
	var got []string
	for _, p := range c.patches(t) {
		got = append(got, p.Metadata.Name)
	}
	c.policies.ClearActions()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: statuses are written of %q, want %q", when, got, want)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// At the start, policies without recorded findings are checked before the many that have some.
func TestRecordedPoliciesAreCheckedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const recorded = 1000
		spec := `{` + onDeployments + `validations: [{expression: object.spec.nosuchfield < 5}]}`
		status := `{observedGeneration: 2, conditions: [
			{type: Available, status: "True", observedGeneration: 2},
			{type: TypeChecked, status: Unknown, observedGeneration: 2}]}`
		c := newCluster(t, policy(t, spec, "{}"))
		for i := range recorded {
			p := policy(t, spec, status)
			p.Name = fmt.Sprintf("recorded%03d", i)
			if err := c.policies.Tracker().Add(p); err != nil {
				t.Fatal(err)
			}
		}
		c.start(t)
		time.Sleep(time.Second) // of the bubble
		synctest.Wait()
		written := c.patches(t)
		if len(written) == 0 || written[0].Metadata.Name != "p" {
			t.Fatalf("the first of %d written statuses is not of the policy without one", len(written))
		}
		if len(written) > recorded/2 {
			t.Errorf("%d statuses are written in the first second", len(written))
		}
		time.Sleep(time.Minute) // of the bubble
		synctest.Wait()
		if got := len(c.patches(t)); got != recorded+1 {
			t.Errorf("%d statuses are written in the end, want %d", got, recorded+1)
		}
	})
}

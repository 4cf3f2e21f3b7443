// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// TestChanges compares the plugins while configurations change. A webhook must keep its own match
// conditions when webhooks around it change.
func TestChanges(t *testing.T) {
	a, b := asking("a", "allow", when(creates), configured("first")), asking("b", "allow", when("object.spec.replicas == 9"), configured("second"))
	excluded := asking("a", "allow", when(creates, "false"), configured("first"))
	changes := []struct {
		about string
		to    scenario
		want  []string
	}{
		{"none", nil, nil},
		{"the first webhook", scenario{excluded}, nil},
		{"its conditions are true", scenario{a}, says(asks("a"))},
		{"another one", scenario{a, b}, says(asks("a", "b"))},
		{"one in between", scenario{a, asking("c", "deny", when(failing), ignoring, configured("first")), b}, says(asks("a", "b"))},
		{"it is a wrong condition", scenario{asking("c", "deny", when(invalid), configured("first")), a, b}, says(forbidden(invalidSays))},
		{"conditions change places", scenario{asking("a", "allow", when("object.spec.replicas == 9"), configured("first")), asking("b", "allow", when("!("+creates+")"), configured("second"))}, says(asks("a"))},
		{"the first one goes", scenario{b}, says(asks("b"))},
		{"it is there again", scenario{excluded, b}, says(asks("b"))},
		{"no conditions", scenario{asking("a", "allow", configured("first")), b}, says(asks("a", "b"))},
		{"none left", nil, nil},
	}
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		for _, change := range changes {
			c.replace(t, change.to)
			got := c.compare(t, fixed)
			if got.Unexplained != nil {
				t.Errorf("%s: %s", change.about, got)
			}
			for called, in := range steps {
				if diff := cmp.Diff(change.want, got.outcomes[in]["create"].brief(change.to)); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", change.about, called, diff)
				}
			}
		}
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example is a scenario and the expected outcome of one request.
type example struct {
	in scenario
	// on names a request, by default "create".
	on string
	// want is the outcome of that request as brief returns it. It is empty if no webhook is
	// called.
	want []string
	// mutating is the outcome for mutating webhooks if it differs from want. Examples with
	// mutatingOnly do not check validating webhooks.
	mutating     []string
	mutatingOnly bool
	// object is a substring of the JSON of the object that mutating webhooks return. If it is
	// empty, the object must not change.
	object string
}

// topics returns the examples by topic and name.
func topics() map[string]map[string]example {
	return map[string]map[string]example{
		"conditions":   conditions(),
		"constraints":  constraints(),
		"reviews":      reviewed(),
		"answers":      answered(),
		"failures":     failures(),
		"dry run":      dryRuns(),
		"patches":      patches(),
		"reinvocation": reinvocations(),
	}
}

// TestExamples checks the outcome of each example in both steps, and that the plugins of both
// sides agree on all fixed requests.
func TestExamples(t *testing.T) {
	examples, outcomes, calls, refusals := 0, 0, 0, 0
	for topic, cases := range topics() {
		for name, e := range cases {
			t.Run(topic+"/"+name, func(t *testing.T) {
				if e.on == "" {
					e.on = "create"
				}
				r, exists := fixed[e.on]
				if !exists {
					t.Fatalf("there is no request %q", e.on)
				}
				got := compareIn(t, e.in, fixed)
				if got.Unexplained != nil {
					t.Error(got)
				}
				// Kubernetes' plugin has the same outcome, so this checks both.
				if diff := cmp.Diff(e.want, got.outcomes[validate][e.on].brief(e.in)); diff != "" && !e.mutatingOnly {
					t.Errorf("validating, %s (-want +got):\n%s", e.on, diff)
				}
				if e.mutating == nil && !e.mutatingOnly {
					e.mutating = e.want
				}
				mutated := got.outcomes[mutate][e.on]
				if diff := cmp.Diff(e.mutating, mutated.brief(e.in)); diff != "" {
					t.Errorf("mutating, %s (-want +got):\n%s", e.on, diff)
				}
				if changed := mutated.changed(r.Object); changed != (e.object != "") || !strings.Contains(mutated.Object, e.object) {
					t.Errorf("mutating, %s: the object is changed: %t, want %q:\n%s", e.on, changed, e.object, mutated.Object)
				}
				examples++
				for _, in := range steps {
					for _, o := range got.outcomes[in] {
						outcomes++
						calls += len(o.Calls)
						refusals += min(1, len(o.Error))
					}
				}
			})
		}
	}
	t.Logf("%d examples with %d outcomes: %d calls, %d refusals", examples, outcomes, calls, refusals)
}

func asks(names ...string) string { return "asks " + strings.Join(names, ", ") }

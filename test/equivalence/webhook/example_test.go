// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// example is a situation that authors of webhooks get into, willingly or not, and what
// becomes of one request in it.
type example struct {
	in scenario
	// on names a request, by default "create".
	on string
	// want is the outcome of that request in brief: none means that nobody is asked.
	want []string
	// mutating is the same for mutating webhooks, where it differs. Some examples are only
	// about those.
	mutating     []string
	mutatingOnly bool
	// object is a part of the object as mutating webhooks leave it, in JSON. Without, they
	// leave it as it was.
	object string
}

// topics are all examples.
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

// Each example does what it says, in both plugins of both steps, and all other requests
// have the same outcome in both, too.
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
				if got.unexplained != nil {
					t.Error(got)
				}
				// Upstream agrees, so this says that both are right.
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
				if changed := mutated.changed(r.object); changed != (e.object != "") || !strings.Contains(mutated.Object, e.object) {
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

// says returns what an example wants.
func says(lines ...string) []string {
	slices.Sort(lines)
	return lines
}

func asks(names ...string) string { return "asks " + strings.Join(names, ", ") }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"reflect"
	"slices"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/warningtext"

	"celador.io/celador/test/equivalence/harness"
)

// difference is a wanted difference between Celador and Kubernetes. The tests fail on any other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the reason for two different outcomes of a
	// request.
	explains func(t *testing.T, c *cluster, in step, r request, celador, upstream outcome) bool
	// countsDiffer is true if the metrics differ, too.
	countsDiffer bool
	// in is a scenario in which the difference occurs for request on. Remove the difference from
	// the list when the test reports that it no longer occurs.
	in scenario
	on string
}

// differences returns the wanted differences.
func differences() []difference {
	return []difference{
		{
			name: "first refusal",
			reason: "When several validating webhooks refuse a request, Celador returns what the first of them says, in the order of webhooks, so that the same " +
				"request always gets the same error. Upstream returns what was there first.",
			explains: firstRefusal,
			// A webhook that cannot be called fails before any other answers.
			in: scenario{asking("a", "deny"), asking("b", "allow", nowhere)}, on: "create",
		},
		{
			name: "control characters in warnings",
			reason: "Warnings of webhooks have spaces in place of white space with line breaks, tabs and other control characters. Upstream's server drops a warning with such a " +
				"character, because headers cannot have it.",
			explains: func(_ *testing.T, _ *cluster, _ step, _ request, celador, upstream outcome) bool {
				upstream.Warnings = slices.Clone(upstream.Warnings)
				for i, text := range upstream.Warnings {
					upstream.Warnings[i] = warningtext.Of(text)
				}
				return reflect.DeepEqual(celador, upstream)
			},
			in: scenario{asking("a", "warn in lines")}, on: "create",
		},
		{
			name: "unknown failure policies",
			reason: "A webhook with a failurePolicy that is none, which the API does not accept, fails the requests for which its match conditions cannot be evaluated. " +
				"Upstream asks it, as if they were true.",
			explains: func(_ *testing.T, c *cluster, _ step, _ request, celador, upstream outcome) bool {
				return slices.ContainsFunc(c.scenario, hopes) && celador.Status.Reason == metav1.StatusReasonForbidden && len(upstream.Calls) > len(celador.Calls)
			},
			countsDiffer: true,
			in:           scenario{asking("a", "allow", when(failing), hoping)}, on: "create",
		},
		{
			name:   "names of Go types",
			reason: "A few errors of CEL, such as for a list indexed by an object, name the Go type of a value. These types are Celador's own.",
			explains: func(_ *testing.T, _ *cluster, _ step, _ request, celador, upstream outcome) bool {
				return celador.Error != upstream.Error && reflect.DeepEqual(celador.withoutGoTypes(), upstream.withoutGoTypes())
			},
			in: scenario{asking("a", "allow", when("['a'][object.metadata] == 'a'"))}, on: "create",
		},
	}
}

// withoutGoTypes returns a copy without the names of Go types in its errors.
func (o outcome) withoutGoTypes() outcome {
	o.Error = harness.GoTypes.Replace(o.Error)
	o.Status.Message = harness.GoTypes.Replace(o.Status.Message)
	return o
}

func hoping(h *hook)    { h.FailurePolicy = new(v1.FailurePolicyType("Hope")) }
func hopes(h hook) bool { return h.FailurePolicy != nil && *h.FailurePolicy == "Hope" }

// firstRefusal reports whether Celador's error is the error that Kubernetes' plugin returns for
// the webhooks up to the first that refuses the request.
func firstRefusal(t *testing.T, c *cluster, in step, r request, celador, upstream outcome) bool {
	if in != validate || celador.Error == "" || upstream.Error == "" {
		return false
	}
	same := upstream
	same.Error, same.Status = celador.Error, celador.Status
	if !reflect.DeepEqual(same, celador) {
		return false
	}
	for n := range len(c.scenario) {
		alone := start(t, c.scenario[:n+1]).upstream[in].examine(t, in, r)
		if alone.Error != "" {
			return alone.Error == celador.Error && reflect.DeepEqual(alone.Status, celador.Status)
		}
	}
	return false
}

// explain returns the difference that is the reason for two different outcomes, or a zero
// difference.
func (c *cluster) explain(t *testing.T, in step, r request, celador, upstream outcome) difference {
	t.Helper()
	for _, d := range differences() {
		if d.explains(t, c, in, r, celador, upstream) {
			return d
		}
	}
	return difference{}
}

func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		t.Run(d.name, func(t *testing.T) {
			got := compareIn(t, d.in, map[string]request{d.on: fixed[d.on]})
			if got.Unexplained != nil {
				t.Error(got)
			}
			if !slices.Equal(slices.Compact(got.Explained), []string{d.name}) {
				t.Errorf("%v show, and not any more: %s", got.Explained, d.reason)
			}
		})
	}
}

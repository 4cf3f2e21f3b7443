// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"reflect"
	"slices"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// difference is one between Celador and upstream that is wanted. Nothing else may differ.
type difference struct {
	name, reason string
	// explains says whether a pair of different outcomes of a request is due to it.
	explains func(t *testing.T, c *cluster, in step, r request, celador, upstream outcome) bool
	// countsDiffer is set when metrics differ, too.
	countsDiffer bool
	// in has it occur, for that request. When it does not any more, the difference is to be
	// removed from the list.
	in scenario
	on string
}

// differences are all that are wanted.
func differences() []difference {
	return []difference{
		{
			name: "first refusal",
			reason: "When several validating webhooks refuse a request, Celador returns what the first of them says, in the order of webhooks, so that the same " +
				"request always gets the same error. Upstream returns what was there first.",
			explains: firstRefusal,
			// What needs no call is there first.
			in: scenario{asking("a", "deny"), asking("b", "allow", nowhere)}, on: "create",
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
	}
}

func hoping(h *hook)    { h.FailurePolicy = new(v1.FailurePolicyType("Hope")) }
func hopes(h hook) bool { return h.FailurePolicy != nil && *h.FailurePolicy == "Hope" }

// firstRefusal says whether Celador's error is upstream's without the webhooks after the
// first that refuses.
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

// explain returns the difference that two different outcomes are due to, if any.
func (c *cluster) explain(t *testing.T, in step, r request, celador, upstream outcome) *difference {
	t.Helper()
	for _, d := range differences() {
		if d.explains(t, c, in, r, celador, upstream) {
			return &d
		}
	}
	return nil
}

func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		t.Run(d.name, func(t *testing.T) {
			got := compareIn(t, d.in, map[string]request{d.on: fixed[d.on]})
			if got.unexplained != nil {
				t.Error(got)
			}
			if !slices.Equal(slices.Compact(got.explained), []string{d.name}) {
				t.Errorf("%v show, and not any more: %s", got.explained, d.reason)
			}
		})
	}
}

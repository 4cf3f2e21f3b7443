// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import "k8s.io/apiserver/pkg/endpoints/request"

// Step is the step of admission that webhooks take part in.
type Step struct {
	// name is for traces and logs.
	name string
	// metric is the value of the label "type" in upstream's metrics, but for that of exclusions.
	metric string
	// patches says whether responses may have a patch.
	patches bool
	// tracker is that of the latency which the step adds to a request.
	tracker func(*request.LatencyTrackers) request.DurationTracker
}

// The two steps.
var (
	Validating = &Step{
		name: "validating", metric: "validating",
		tracker: func(t *request.LatencyTrackers) request.DurationTracker { return t.ValidatingWebhookTracker },
	}
	Mutating = &Step{
		name: "mutating", metric: "admit", patches: true,
		tracker: func(t *request.LatencyTrackers) request.DurationTracker { return t.MutatingWebhookTracker },
	}
)

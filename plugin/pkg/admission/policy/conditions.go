// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"

	"celador.io/admission/policy"
)

// ObserveConditions counts evaluations that match conditions ended. Upstream's metrics tell
// kinds of policies apart by name only: the type is the same for all.
func ObserveConditions(ctx context.Context, operation admission.Operation, reports []policy.ConditionReport) {
	const kind, step = "policy", "validate"
	for _, r := range reports {
		for range r.Errors {
			metrics.Metrics.ObserveMatchConditionEvalError(ctx, r.Policy, kind, step, string(operation))
		}
		metrics.Metrics.ObserveMatchConditionEvaluationTime(ctx, r.Elapsed, r.Policy, kind, step, string(operation))
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	"k8s.io/klog/v2"

	"celador.io/admission/policy"
)

// ObserveConditions records match conditions that have exempted a request from a policy, or have
// failed, in Kubernetes' metrics: how long they took, and how many errors they had. The label
// 'type' is "validate" for both kinds of policies, as in Kubernetes.
func ObserveConditions(ctx context.Context, operation admission.Operation, reports []policy.ConditionReport) {
	const kind, step = "policy", "validate"
	for _, r := range reports {
		for range r.Errors {
			metrics.Metrics.ObserveMatchConditionEvalError(ctx, r.Policy, kind, step, string(operation))
		}
		metrics.Metrics.ObserveMatchConditionEvaluationTime(ctx, r.Elapsed, r.Policy, kind, step, string(operation))
	}
}

// LogIgnored counts and logs a failure that failurePolicy Ignore ignores.
func (p *Plugin[Policy, Binding, Body]) LogIgnored(ctx context.Context, policy, binding, message string) {
	p.Metrics.ObserveIgnored(ctx, policy)
	klog.FromContext(ctx).V(2).Info("Admitted as failurePolicy is Ignore", "policy", policy, "binding", binding, "err", message)
}

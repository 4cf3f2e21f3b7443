// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"context"
	"strings"

	"k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"

	"celador.io/admission/validating"

	"celador.io/celador/plugin/pkg/admission/policymetrics"
)

// ownMetrics are those that upstream's plugin does not have.
var ownMetrics = policymetrics.For("ValidatingAdmissionPolicy")

// enforcement counts a decision under one enforcement action.
type enforcement func(ctx context.Context, d *validating.Decision, cause metrics.ValidationErrorType)

func allow(ctx context.Context, d *validating.Decision, cause metrics.ValidationErrorType) {
	metrics.Metrics.ObserveAdmission(ctx, d.Elapsed, d.Policy, d.Binding, cause)
}

func deny(ctx context.Context, d *validating.Decision, cause metrics.ValidationErrorType) {
	metrics.Metrics.ObserveRejection(ctx, d.Elapsed, d.Policy, d.Binding, cause)
}

func warn(ctx context.Context, d *validating.Decision, cause metrics.ValidationErrorType) {
	metrics.Metrics.ObserveWarn(ctx, d.Elapsed, d.Policy, d.Binding, cause)
}

func audit(ctx context.Context, d *validating.Decision, cause metrics.ValidationErrorType) {
	metrics.Metrics.ObserveAudit(ctx, d.Elapsed, d.Policy, d.Binding, cause)
}

// observe counts evaluations. When a policy could not be applied, there was none.
func observe(ctx context.Context, d *validating.Decision, as enforcement) {
	if d.Outcome != validating.Misconfigured {
		as(ctx, d, causeOf(d))
	}
}

// causeOf tells errors apart by the start of their message, as dashboards built on
// these metrics expect.
func causeOf(d *validating.Decision) metrics.ValidationErrorType {
	switch {
	case strings.HasPrefix(d.Message, "compilation"):
		return metrics.ValidationCompileError
	case strings.HasPrefix(d.Message, "validation failed due to running out of cost budget"):
		return metrics.ValidatingOutOfBudget
	default:
		return metrics.ValidatingInvalidError
	}
}

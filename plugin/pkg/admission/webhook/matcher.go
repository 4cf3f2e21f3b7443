// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	upstreamconditions "k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"

	"celador.io/admission/expression"
	"celador.io/admission/matchconditions"
)

// matcher decides by the match conditions of a webhook. Safe for concurrent use.
type matcher struct {
	conditions matchconditions.Conditions
	// ignores is set when errors are to skip the webhook.
	ignores  bool
	webhook  upstream.WebhookAccessor
	step     *Step
	excluded exclusionCounters
}

func (s *Step) newMatcher(w upstream.WebhookAccessor) *matcher {
	return &matcher{
		conditions: matchconditions.Compile(expression.Default(), w.GetMatchConditions()),
		ignores:    FailsOpen(w),
		webhook:    w,
		step:       s,
		excluded:   countersOf(w),
	}
}

// Match implements upstream's matchconditions.Matcher. An error means that the request
// has to fail: the conditions failed and the failurePolicy of the webhook is Fail, or they
// were interrupted.
func (m *matcher) Match(ctx context.Context, a *admission.VersionedAttributes, _ runtime.Object, authz authorizer.UnconditionalAuthorizer) upstreamconditions.MatchResult {
	start := time.Now()
	shared, ok := ctx.Value(evaluationKey{}).(*evaluation)
	if !ok {
		shared = newEvaluation(ctx)
	}
	series := shared.series(ctx, a, authz)
	shared.budget = *expression.NewBudget(celconfig.RuntimeCELCostBudgetMatchConditions)
	series.Continue(&shared.budget)
	result := m.conditions.Check(series)
	if !result.Excluded && result.Err == nil {
		return upstreamconditions.MatchResult{Matches: true}
	}

	name, operation := m.webhook.GetName(), string(a.GetOperation())
	for range result.Errors {
		metrics.Metrics.ObserveMatchConditionEvalError(ctx, name, "webhook", m.step.metric, operation)
	}
	metrics.Metrics.ObserveMatchConditionEvaluationTime(ctx, time.Since(start), name, "webhook", m.step.metric, operation)
	if result.Err != nil && (!m.ignores || errors.Is(result.Err, interpreter.InterruptError{})) {
		return upstreamconditions.MatchResult{Error: result.Err}
	}
	m.excluded[a.GetOperation()]().Inc()
	if result.Err != nil {
		klog.FromContext(ctx).V(2).Info("Webhook skipped as its match conditions failed and its failurePolicy is Ignore",
			"webhook", name, "configuration", m.webhook.GetConfigurationName(), "err", result.Err)
	} else if shared.explain {
		shared.why.Info("Request excluded from webhook by a match condition",
			"webhook", name, "configuration", m.webhook.GetConfigurationName(), "matchCondition", result.Condition,
			"operation", operation, "resource", a.GetResource(), "subresource", a.GetSubresource(), "object", klog.KRef(a.GetNamespace(), a.GetName()))
	}
	return upstreamconditions.MatchResult{FailedConditionName: result.Condition}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
	engine "celador.io/admission/webhook"
)

// Matcher decides which of the listed webhooks are called for one request, and records exclusions
// by match conditions.
type Matcher struct {
	ctx        context.Context
	plugin     *Plugin
	attributes admission.Attributes
	request    *engine.Request
	set        *Set
	// traced is set if metrics have exemplars that refer to the trace of the request.
	traced bool
	// excluded is the logger for exclusions, and explain is set if it is enabled.
	excluded klog.Logger
	explain  bool
}

// NewMatcher returns a matcher for a request, which was made from the set for the given attributes.
func (p *Plugin) NewMatcher(ctx context.Context, a admission.Attributes, request *engine.Request, set *Set) *Matcher {
	excluded := klog.FromContext(ctx).V(5)
	return &Matcher{ctx, p, a, request, set, trace.SpanContextFromContext(ctx).IsSampled(), excluded, excluded.Enabled()}
}

// Match returns the call of a webhook for the request, or nil if the webhook is not called. The
// caller sets the attributes of the call. An error rejects the request.
func (m *Matcher) Match(c matching.Candidate) (*Call, error) {
	w := m.set.At(c.Position)
	applicability, err := m.request.Match(c)
	if applicability.Excluded {
		m.record(w, &applicability, err)
	}
	if err != nil || !applicability.Matches {
		return nil, err
	}
	target := applicability.Target
	return &Call{
		WebhookInvocation: generic.WebhookInvocation{Webhook: w, Resource: target.Resource, Subresource: m.attributes.GetSubresource(), Kind: target.Kind},
		Accessor:          w, plugin: m.plugin,
	}, nil
}

// record updates the metrics and writes the log about a webhook whose match conditions exclude it
// from the request. If err is not nil, the conditions could not be evaluated, and the request is
// rejected with err.
func (m *Matcher) record(w *Accessor, s *engine.Applicability, err error) {
	operation := m.attributes.GetOperation()
	var series *operationSeries
	if err == nil && s.Errors == 0 && !m.traced {
		series = w.exclusions.of(w, m.plugin.descriptor, operation)
	}
	if series != nil {
		series.observe(s.Elapsed)
	} else {
		m.recordByLabels(w, s, err == nil)
	}
	switch {
	case err != nil:
		klog.FromContext(m.ctx).Info("Match conditions of webhook failed, failing closed", "webhook", w.GetName(), "configuration", w.GetConfigurationName(), "err", s.Err)
	case s.Err != nil:
		klog.FromContext(m.ctx).V(2).Info("Webhook skipped as its match conditions failed and its failurePolicy is Ignore",
			"webhook", w.GetName(), "configuration", w.GetConfigurationName(), "err", s.Err)
	case m.explain:
		m.excluded.Info("Request excluded from webhook by a match condition",
			"webhook", w.GetName(), "configuration", w.GetConfigurationName(), "matchCondition", s.Condition,
			"operation", operation, "resource", m.attributes.GetResource(), "subresource", m.attributes.GetSubresource(),
			"object", klog.KRef(m.attributes.GetNamespace(), m.attributes.GetName()))
	}
}

// recordByLabels updates the metrics of an excluded webhook through Kubernetes' functions, which
// look the series up by their labels at each call. That takes longer than operationSeries.observe,
// which keeps the series, but it also counts errors of the conditions, and adds the ID of the
// request's trace.
func (m *Matcher) recordByLabels(w *Accessor, s *engine.Applicability, excluded bool) {
	name, operation := w.GetName(), string(m.attributes.GetOperation())
	for range s.Errors {
		metrics.Metrics.ObserveMatchConditionEvalError(m.ctx, name, conditionsOf, m.plugin.descriptor.metric, operation)
	}
	metrics.Metrics.ObserveMatchConditionEvaluationTime(m.ctx, s.Elapsed, name, conditionsOf, m.plugin.descriptor.metric, operation)
	if excluded {
		exclusions.WithLabelValues(name, w.GetType(), operation).Inc()
		metrics.Metrics.ObserveMatchConditionExclusion(m.ctx, name, conditionsOf, w.GetType(), operation)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

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
	// excluded logs exclusions if explain is set.
	excluded klog.Logger
	explain  bool
}

// NewMatcher returns a matcher for a request, which the set has made for the given attributes.
func (p *Plugin) NewMatcher(ctx context.Context, a admission.Attributes, request *engine.Request, set *Set) *Matcher {
	excluded := klog.FromContext(ctx).V(5)
	return &Matcher{ctx, p, a, request, set, excluded, excluded.Enabled()}
}

// Match returns the call of a webhook for the request, or nil if it is not called. The caller sets
// the attributes of the call. The request is rejected with the error.
func (m *Matcher) Match(c matching.Candidate) (*Call, error) {
	w := m.set.At(c.Position)
	decision, err := m.request.Match(c)
	if decision.Excluded {
		m.record(w, &decision, err)
	}
	if err != nil || !decision.Matches {
		return nil, err
	}
	target := decision.Target
	return &Call{
		WebhookInvocation: generic.WebhookInvocation{Webhook: w, Resource: target.Resource, Subresource: m.attributes.GetSubresource(), Kind: target.Kind},
		Accessor:          w, plugin: m.plugin,
	}, nil
}

// record observes match conditions that keep a webhook from being called. err rejects the request.
func (m *Matcher) record(w *Accessor, d *engine.MatchResult, err error) {
	// kind is the value of the label "kind" in Kubernetes' metrics of match conditions.
	const kind = "webhook"
	name, stage, operation := w.GetName(), m.plugin.descriptor.metric, string(m.attributes.GetOperation())
	for range d.Errors {
		metrics.Metrics.ObserveMatchConditionEvalError(m.ctx, name, kind, stage, operation)
	}
	metrics.Metrics.ObserveMatchConditionEvaluationTime(m.ctx, d.Elapsed, name, kind, stage, operation)
	if err == nil {
		exclusions.WithLabelValues(name, w.GetType(), operation).Inc()
		metrics.Metrics.ObserveMatchConditionExclusion(m.ctx, name, kind, w.GetType(), operation)
	}
	switch {
	case err != nil:
		klog.FromContext(m.ctx).Info("Match conditions of webhook failed, failing closed", "webhook", name, "configuration", w.GetConfigurationName(), "err", d.Err)
	case d.Err != nil:
		klog.FromContext(m.ctx).V(2).Info("Webhook skipped as its match conditions failed and its failurePolicy is Ignore",
			"webhook", name, "configuration", w.GetConfigurationName(), "err", d.Err)
	case m.explain:
		m.excluded.Info("Request excluded from webhook by a match condition",
			"webhook", name, "configuration", w.GetConfigurationName(), "matchCondition", d.Condition,
			"operation", operation, "resource", m.attributes.GetResource(), "subresource", m.attributes.GetSubresource(),
			"object", klog.KRef(m.attributes.GetNamespace(), m.attributes.GetName()))
	}
}

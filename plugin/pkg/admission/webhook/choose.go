// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/metrics"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/klog/v2"

	"celador.io/admission/matching"
)

// Choose is generic.Webhook.ShouldCallHook, for requests with more webhooks than are called.
// The request has the same attributes, and the context is one WithEvaluation.
func (p *Plugin) Choose(ctx context.Context, w upstream.WebhookAccessor, request *matching.Request, o admission.ObjectInterfaces, versions generic.VersionedAttributeAccessor) (*generic.WebhookInvocation, *apierrors.StatusError) {
	own, ok := w.(*accessor)
	if !ok || own.criteria == nil {
		return p.ShouldCallHook(ctx, w, request.Attributes, o, versions)
	}
	target, matches, err := own.criteria.Match(request)
	if err != nil {
		// It knows how to tell.
		return p.ShouldCallHook(ctx, w, request.Attributes, o, versions)
	}
	if !matches {
		return nil, nil
	}
	if len(own.GetMatchConditions()) > 0 {
		attributes, err := versions.VersionedAttribute(target.Kind)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		result := own.matcher().Match(ctx, attributes, nil, p.authorizer)
		if result.Error != nil {
			klog.FromContext(ctx).Info("Match conditions of webhook failed, failing closed", "webhook", w.GetName(), "configuration", w.GetConfigurationName(), "err", result.Error)
			return nil, apierrors.NewForbidden(request.GetResource().GroupResource(), request.GetName(), result.Error)
		}
		if !result.Matches {
			metrics.Metrics.ObserveMatchConditionExclusion(ctx, w.GetName(), "webhook", w.GetType(), string(request.GetOperation()))
			return nil, nil
		}
	}
	return &generic.WebhookInvocation{Webhook: w, Resource: target.Resource, Subresource: request.GetSubresource(), Kind: target.Kind}, nil
}

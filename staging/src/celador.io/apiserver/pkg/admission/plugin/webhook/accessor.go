// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"

	engine "celador.io/admission/webhook"
)

// Accessor is a webhook of a configuration: upstream's accessor to its fields, and what was
// compiled from it to decide whether a request matches. Safe for concurrent use.
type Accessor struct {
	upstream.WebhookAccessor
	*engine.Webhook
	exclusions exclusionSeries
}

func newAccessor(of upstream.WebhookAccessor, conditions bool) *Accessor {
	w := &v1.MutatingWebhook{
		Rules:             of.GetRules(),
		FailurePolicy:     of.GetFailurePolicy(),
		MatchPolicy:       of.GetMatchPolicy(),
		NamespaceSelector: of.GetNamespaceSelector(),
		ObjectSelector:    of.GetObjectSelector(),
	}
	if conditions {
		w.MatchConditions = of.GetMatchConditions()
	}
	if mutating, ok := of.GetMutatingWebhook(); ok {
		w.ReinvocationPolicy = mutating.ReinvocationPolicy
	}
	// In upstream's plugins, a nil matchPolicy means Exact and a nil selector selects nothing,
	// unlike the defaults of the API. No server stores or loads webhooks with nil fields.
	if w.MatchPolicy == nil {
		w.MatchPolicy = new(v1.Exact)
	}
	for _, selector := range []**metav1.LabelSelector{&w.NamespaceSelector, &w.ObjectSelector} {
		if *selector == nil {
			*selector = selectsNothing
		}
	}
	return &Accessor{WebhookAccessor: of, Webhook: engine.CompileMutating(w)}
}

var selectsNothing = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
	{Key: "any", Operator: metav1.LabelSelectorOpExists},
	{Key: "any", Operator: metav1.LabelSelectorOpDoesNotExist},
}}

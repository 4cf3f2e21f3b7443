// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync"

	v1 "celador.io/api/admissionregistration/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/matching"
)

// A Webhook decides which requests an admission webhook is called for, by its rules, selectors
// and match conditions. Safe for concurrent use.
type Webhook struct {
	criteria *matching.Criteria
	// conditions compiles matchConditions when it is first called. failsOpen is set if
	// failurePolicy is Ignore, and reinvoked if reinvocationPolicy is IfNeeded.
	matchConditions []admissionregistrationv1.MatchCondition
	conditions      func() matchconditions.Conditions
	failsOpen       bool
	reinvoked       bool
}

// CompileValidating returns a webhook of a ValidatingWebhookConfiguration. Fields that are nil
// have the defaults of the API. The webhook refers to the configuration, which must not be
// changed afterwards.
//
// A match condition that does not compile is no error of CompileValidating. As in Kubernetes, it
// fails for every request that the rules and selectors match.
func CompileValidating(w *admissionregistrationv1.ValidatingWebhook) *Webhook {
	return CompileMutating(&admissionregistrationv1.MutatingWebhook{
		Rules:             w.Rules,
		FailurePolicy:     w.FailurePolicy,
		MatchPolicy:       w.MatchPolicy,
		NamespaceSelector: w.NamespaceSelector,
		ObjectSelector:    w.ObjectSelector,
		MatchConditions:   w.MatchConditions,
	})
}

// CompileMutating is CompileValidating for a webhook of a MutatingWebhookConfiguration.
func CompileMutating(w *admissionregistrationv1.MutatingWebhook) *Webhook {
	return &Webhook{
		criteria:        compileCriteria(w),
		matchConditions: w.MatchConditions,
		conditions: sync.OnceValue(func() matchconditions.Conditions {
			return matchconditions.Compile(expression.Default(), w.MatchConditions)
		}),
		failsOpen: w.FailurePolicy != nil && *w.FailurePolicy == admissionregistrationv1.Ignore,
		reinvoked: w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == admissionregistrationv1.IfNeededReinvocationPolicy,
	}
}

// FailsOpen reports whether failurePolicy is Ignore: a request is admitted if the webhook cannot
// be called.
func (w *Webhook) FailsOpen() bool { return w.failsOpen }

func compileCriteria(w *admissionregistrationv1.MutatingWebhook) *matching.Criteria {
	resources := &v1.MatchResources{
		NamespaceSelector: w.NamespaceSelector,
		ObjectSelector:    w.ObjectSelector,
		MatchPolicy:       (*v1.MatchPolicyType)(w.MatchPolicy),
	}
	if len(w.Rules) == 0 {
		// A webhook without rules matches no request, but Criteria without rules match all. A rule
		// without operations matches none.
		resources.ResourceRules = make([]v1.NamedRuleWithOperations, 1)
	}
	for _, r := range w.Rules {
		rule := v1.RuleWithOperations{Rule: v1.Rule{
			APIGroups: r.APIGroups, APIVersions: r.APIVersions, Resources: r.Resources, Scope: (*v1.ScopeType)(r.Scope),
		}}
		for _, operation := range r.Operations {
			rule.Operations = append(rule.Operations, v1.OperationType(operation))
		}
		resources.ResourceRules = append(resources.ResourceRules, v1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	return matching.Compile(resources)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	v1 "celador.io/api/admissionregistration/v1"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"

	"celador.io/admission/matching"
)

// criteriaOf returns what a webhook matches, or nil for one that lacks what the API
// requires or sets by default, which matches nothing.
func criteriaOf(w upstream.WebhookAccessor) *matching.Criteria {
	if len(w.GetRules()) == 0 || w.GetNamespaceSelector() == nil || w.GetObjectSelector() == nil {
		return nil
	}
	resources := &v1.MatchResources{
		NamespaceSelector: w.GetNamespaceSelector(),
		ObjectSelector:    w.GetObjectSelector(),
		MatchPolicy:       (*v1.MatchPolicyType)(w.GetMatchPolicy()),
	}
	for _, r := range w.GetRules() {
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

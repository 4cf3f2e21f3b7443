// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	few     = "object.spec.replicas <= 5"
	failing = "object.spec.missing.field == 1"
)

func validating(expressions ...string) []v1.Validation {
	var result []v1.Validation
	for _, expression := range expressions {
		result = append(result, v1.Validation{Expression: expression})
	}
	return result
}

// everything are the match resources that the API defaults to, with a rule for
// every request.
func everything() *v1.MatchResources {
	return matchResources(v1.Equivalent, rule("*", "*", "*/*"))
}

func matchResources(policy v1.MatchPolicyType, rules ...v1.NamedRuleWithOperations) *v1.MatchResources {
	return &v1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector:    &metav1.LabelSelector{},
		MatchPolicy:       &policy,
		ResourceRules:     rules,
	}
}

func rule(group, version, resource string) v1.NamedRuleWithOperations {
	return v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}, Scope: new(v1.AllScopes)},
	}}
}

// policyOf completes a spec as the API does, but for constraints that match everything.
func policyOf(name string, spec v1.ValidatingAdmissionPolicySpec) *v1.ValidatingAdmissionPolicy {
	if spec.FailurePolicy == nil {
		spec.FailurePolicy = new(v1.Fail)
	}
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = everything()
	}
	return &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1", Generation: 1}, Spec: spec}
}

func bindingOf(name, policy string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: actions},
	}
}

// atMost is a policy against too many replicas.
func atMost(name, replicas string) *v1.ValidatingAdmissionPolicy {
	return policyOf(name, v1.ValidatingAdmissionPolicySpec{
		Validations: []v1.Validation{{Expression: "object.spec.replicas <= " + replicas}},
	})
}

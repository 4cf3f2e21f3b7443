// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scenario is what is stored in the cluster, besides namespaces.
type scenario struct {
	Policies []*v1.ValidatingAdmissionPolicy        `json:"policies"`
	Bindings []*v1.ValidatingAdmissionPolicyBinding `json:"bindings"`
	Params   []*unstructured.Unstructured           `json:"params,omitempty"`
}

// ordered says that there is but one order in which to look at everything.
func (s scenario) ordered() bool {
	return len(s.Policies) <= 1 && len(s.Bindings) <= 1 && len(s.Params) <= 1
}

// everything are the match resources that the API defaults to, with a rule for
// every request.
func everything() *v1.MatchResources {
	return matching(v1.Equivalent, rule("*", "*", "*/*"))
}

func matching(policy v1.MatchPolicyType, rules ...v1.NamedRuleWithOperations) *v1.MatchResources {
	return &v1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector:    &metav1.LabelSelector{},
		MatchPolicy:       &policy,
		ResourceRules:     rules,
	}
}

func rule(group, version, resource string, operations ...v1.OperationType) v1.NamedRuleWithOperations {
	if operations == nil {
		operations = []v1.OperationType{v1.OperationAll}
	}
	return v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: operations,
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
	if spec.MatchConstraints.NamespaceSelector == nil {
		spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{}
	}
	if spec.MatchConstraints.ObjectSelector == nil {
		spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{}
	}
	return &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1", Generation: 1}, Spec: spec}
}

func bindingOf(name, policy string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: actions},
	}
}

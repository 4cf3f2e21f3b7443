// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scenario is what is stored in the cluster, besides namespaces.
type scenario struct {
	Policies []*v1.MutatingAdmissionPolicy        `json:"policies"`
	Bindings []*v1.MutatingAdmissionPolicyBinding `json:"bindings"`
	Params   []*unstructured.Unstructured         `json:"params,omitempty"`
}

// ordered says that there is but one order in which to look at everything.
func (s scenario) ordered() bool {
	return len(s.Policies) <= 1 && len(s.Bindings) <= 1 && len(s.Params) <= 1
}

type spec = v1.MutatingAdmissionPolicySpec

// patching returns a policy with JSON patches.
func patching(expressions ...string) spec {
	var s spec
	for _, expression := range expressions {
		s.Mutations = append(s.Mutations, patch(expression))
	}
	return s
}

// applying returns a policy with apply configurations.
func applying(expressions ...string) spec {
	var s spec
	for _, expression := range expressions {
		s.Mutations = append(s.Mutations, configuration(expression))
	}
	return s
}

func patch(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: expression}}
}

func configuration(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression}}
}

// with returns a changed copy of a policy.
func with(s spec, changes ...func(*spec)) spec {
	for _, change := range changes {
		change(&s)
	}
	return s
}

func ignoring(s *spec)  { s.FailurePolicy = new(v1.Ignore) }
func reinvoked(s *spec) { s.ReinvocationPolicy = v1.IfNeededReinvocationPolicy }

func when(expressions ...string) func(*spec) {
	return func(s *spec) {
		for i, expression := range expressions {
			s.MatchConditions = append(s.MatchConditions, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: expression})
		}
	}
}

// let declares variables: names and expressions in turn.
func let(declarations ...string) func(*spec) {
	return func(s *spec) {
		for i := 0; i+1 < len(declarations); i += 2 {
			s.Variables = append(s.Variables, v1.Variable{Name: declarations[i], Expression: declarations[i+1]})
		}
	}
}

func and(more spec) func(*spec) {
	return func(s *spec) { s.Mutations = append(s.Mutations, more.Mutations...) }
}

func matched(m *v1.MatchResources) func(*spec) {
	return func(s *spec) { s.MatchConstraints = m }
}

func parameterized(kind v1.ParamKind) func(*spec) {
	return func(s *spec) { s.ParamKind = &kind }
}

var (
	limitKind     = v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "Limit"}
	configMapKind = v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	unknownKind   = v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "Unknown"}
)

// everything are the match resources that the API defaults to, with a rule for every
// request.
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

func inNamespaces(key, value string) *v1.MatchResources {
	m := everything()
	m.NamespaceSelector.MatchLabels = map[string]string{key: value}
	return m
}

func ofObjects(key, value string) *v1.MatchResources {
	m := everything()
	m.ObjectSelector.MatchLabels = map[string]string{key: value}
	return m
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
func policyOf(name string, s spec) *v1.MutatingAdmissionPolicy {
	if s.FailurePolicy == nil {
		s.FailurePolicy = new(v1.Fail)
	}
	if s.MatchConstraints == nil {
		s.MatchConstraints = everything()
	}
	if s.ReinvocationPolicy == "" {
		s.ReinvocationPolicy = v1.NeverReinvocationPolicy
	}
	return &v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1", Generation: 1}, Spec: s}
}

func bindingOf(name, policy string, changes ...func(*v1.MutatingAdmissionPolicyBinding)) *v1.MutatingAdmissionPolicyBinding {
	b := &v1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

func using(ref v1.ParamRef) func(*v1.MutatingAdmissionPolicyBinding) {
	if ref.ParameterNotFoundAction == nil {
		ref.ParameterNotFoundAction = new(v1.DenyAction)
	}
	return func(b *v1.MutatingAdmissionPolicyBinding) { b.Spec.ParamRef = &ref }
}

func boundTo(m *v1.MatchResources) func(*v1.MutatingAdmissionPolicyBinding) {
	return func(b *v1.MutatingAdmissionPolicyBinding) { b.Spec.MatchResources = m }
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/test/equivalence/harness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scenario holds the policies, bindings and parameters of a cluster.
type scenario struct {
	Policies []*v1.MutatingAdmissionPolicy        `json:"policies"`
	Bindings []*v1.MutatingAdmissionPolicyBinding `json:"bindings"`
	Params   []*unstructured.Unstructured         `json:"params,omitempty"`
}

// ordered reports whether there is only one order in which a plugin can evaluate the scenario.
func (s scenario) ordered() bool {
	return len(s.Policies) <= 1 && len(s.Bindings) <= 1 && len(s.Params) <= 1
}

type spec = v1.MutatingAdmissionPolicySpec

// patching returns a spec with JSON patches.
func patching(expressions ...string) spec {
	var s spec
	for _, expression := range expressions {
		s.Mutations = append(s.Mutations, patch(expression))
	}
	return s
}

// applying returns a spec with apply configurations.
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

// with returns a changed copy of a spec.
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
		s.MatchConditions = append(s.MatchConditions, harness.Conditions(expressions...)...)
	}
}

// let adds variables from names and expressions in turn.
func let(declarations ...string) func(*spec) {
	return func(s *spec) {
		s.Variables = append(s.Variables, harness.Variables(declarations...)...)
	}
}

func and(more spec) func(*spec) {
	return func(s *spec) { s.Mutations = append(s.Mutations, more.Mutations...) }
}

func matched(m *v1.MatchResources) func(*spec) {
	return func(s *spec) { s.MatchConstraints = m }
}

func parameterized(kind *v1.ParamKind) func(*spec) {
	return func(s *spec) { s.ParamKind = kind }
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

// policyOf returns a policy with the defaults of the API. By default it matches everything.
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
	return &v1.MutatingAdmissionPolicy{ObjectMeta: harness.Stored(name), Spec: s}
}

func bindingOf(name, policy string, changes ...func(*v1.MutatingAdmissionPolicyBinding)) *v1.MutatingAdmissionPolicyBinding {
	b := &v1.MutatingAdmissionPolicyBinding{
		ObjectMeta: harness.Stored(name),
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

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policytest makes policies and bindings for tests. All objects have the defaults of the
// API.
package policytest

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/defaults"
)

// meta returns the metadata of an object that was created and not changed.
func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: "1", Generation: 1}
}

// Validating returns a policy with the given spec. It matches everything unless the spec has match
// constraints.
func Validating(name string, spec v1.ValidatingAdmissionPolicySpec) *v1.ValidatingAdmissionPolicy {
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = Everything()
	}
	p := &v1.ValidatingAdmissionPolicy{ObjectMeta: meta(name), Spec: spec}
	defaults.SetObjectDefaults_ValidatingAdmissionPolicy(p)
	return p
}

// Validations returns a validation for each expression.
func Validations(expressions ...string) []v1.Validation {
	var result []v1.Validation
	for _, e := range expressions {
		result = append(result, v1.Validation{Expression: e})
	}
	return result
}

// Binding returns a binding of a validating policy. Its action is Deny unless actions are given.
func Binding(name, policy string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
	if actions == nil {
		actions = []v1.ValidationAction{v1.Deny}
	}
	return &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: meta(name),
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: actions},
	}
}

// Mutating returns a policy with the given mutations that matches everything.
func Mutating(name string, mutations ...v1.Mutation) *v1.MutatingAdmissionPolicy {
	return MutatingSpec(name, v1.MutatingAdmissionPolicySpec{Mutations: mutations})
}

// MutatingSpec returns a policy with the given spec. It matches everything unless the spec has
// match constraints, and its reinvocationPolicy is Never unless the spec has one.
func MutatingSpec(name string, spec v1.MutatingAdmissionPolicySpec) *v1.MutatingAdmissionPolicy {
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = Everything()
	}
	if spec.ReinvocationPolicy == "" {
		spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	}
	p := &v1.MutatingAdmissionPolicy{ObjectMeta: meta(name), Spec: spec}
	defaults.SetObjectDefaults_MutatingAdmissionPolicy(p)
	return p
}

// JSONPatch returns a mutation that applies the JSON patch to which the expression evaluates.
func JSONPatch(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: expression}}
}

// ApplyConfiguration returns a mutation that merges the object to which the expression evaluates.
func ApplyConfiguration(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression}}
}

// SetData returns a mutation that adds an entry to the data of a ConfigMap. value is an expression.
func SetData(key, value string) v1.Mutation {
	return JSONPatch(`[JSONPatch{op: "add", path: "/data/` + key + `", value: ` + value + `}]`)
}

// MutatingBinding returns a binding of a mutating policy.
func MutatingBinding(name, policy string) *v1.MutatingAdmissionPolicyBinding {
	return &v1.MutatingAdmissionPolicyBinding{
		ObjectMeta: meta(name),
		Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy},
	}
}

// Everything returns match resources with a rule for every request.
func Everything() *v1.MatchResources { return Match(v1.Equivalent, Rule("*", "*", "*/*")) }

// Match returns match resources with the given match policy and rules.
func Match(policy v1.MatchPolicyType, rules ...v1.NamedRuleWithOperations) *v1.MatchResources {
	match := &v1.MatchResources{MatchPolicy: &policy, ResourceRules: rules}
	defaults.SetDefaults_MatchResources(match)
	return match
}

// Rule returns a rule for a resource in every scope, and for all operations unless some are given.
func Rule(group, version, resource string, operations ...v1.OperationType) v1.NamedRuleWithOperations {
	if operations == nil {
		operations = []v1.OperationType{v1.OperationAll}
	}
	return v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: operations,
		Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}, Scope: new(v1.AllScopes)},
	}}
}

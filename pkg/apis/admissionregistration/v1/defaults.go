// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetDefaults_ValidatingAdmissionPolicySpec makes policies fail closed.
func SetDefaults_ValidatingAdmissionPolicySpec(spec *v1.ValidatingAdmissionPolicySpec) {
	if spec.FailurePolicy == nil {
		spec.FailurePolicy = new(v1.Fail)
	}
}

// SetDefaults_MutatingAdmissionPolicySpec makes policies fail closed.
func SetDefaults_MutatingAdmissionPolicySpec(spec *v1.MutatingAdmissionPolicySpec) {
	if spec.FailurePolicy == nil {
		spec.FailurePolicy = new(v1.Fail)
	}
}

// SetDefaults_MatchResources selects all objects, in all equivalent versions.
func SetDefaults_MatchResources(match *v1.MatchResources) {
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &metav1.LabelSelector{}
	}
	if match.MatchPolicy == nil {
		match.MatchPolicy = new(v1.Equivalent)
	}
}

// SetDefaults_Rule lets a rule apply to resources of every scope.
func SetDefaults_Rule(rule *v1.Rule) {
	if rule.Scope == nil {
		rule.Scope = new(v1.AllScopes)
	}
}

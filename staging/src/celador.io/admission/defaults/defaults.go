// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetDefaults_ValidatingAdmissionPolicySpec makes policies fail closed.
func SetDefaults_ValidatingAdmissionPolicySpec(spec *v1.ValidatingAdmissionPolicySpec) {
	setDefault(&spec.FailurePolicy, v1.Fail)
}

// SetDefaults_MutatingAdmissionPolicySpec makes policies fail closed.
func SetDefaults_MutatingAdmissionPolicySpec(spec *v1.MutatingAdmissionPolicySpec) {
	setDefault(&spec.FailurePolicy, v1.Fail)
}

// SetDefaults_MatchResources selects all objects, in all equivalent versions.
func SetDefaults_MatchResources(match *v1.MatchResources) {
	setDefault(&match.NamespaceSelector, metav1.LabelSelector{})
	setDefault(&match.ObjectSelector, metav1.LabelSelector{})
	setDefault(&match.MatchPolicy, v1.Equivalent)
}

// SetDefaults_Rule lets a rule match resources of every scope.
func SetDefaults_Rule(rule *v1.Rule) { setDefault(&rule.Scope, v1.AllScopes) }

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

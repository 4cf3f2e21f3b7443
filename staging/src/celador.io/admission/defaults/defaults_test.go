// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaults_test

import (
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/defaults"
)

func rules(scope *v1.ScopeType) []v1.NamedRuleWithOperations {
	return []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{Rule: v1.Rule{Scope: scope}}}}
}

func TestDefaults(t *testing.T) {
	everything := &metav1.LabelSelector{}
	some := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	match := func() *v1.MatchResources {
		return &v1.MatchResources{ResourceRules: rules(nil), ExcludeResourceRules: rules(nil)}
	}
	matchDefaulted := &v1.MatchResources{
		NamespaceSelector: everything, ObjectSelector: everything, MatchPolicy: new(v1.Equivalent),
		ResourceRules: rules(new(v1.AllScopes)), ExcludeResourceRules: rules(new(v1.AllScopes)),
	}
	matchSet := &v1.MatchResources{
		NamespaceSelector: some, ObjectSelector: some, MatchPolicy: new(v1.Exact),
		ResourceRules: rules(new(v1.ClusterScope)), ExcludeResourceRules: rules(new(v1.NamespacedScope)),
	}
	scheme := runtime.NewScheme()
	if err := defaults.RegisterDefaults(scheme); err != nil {
		t.Fatal(err)
	}
	type (
		policySpec          = v1.ValidatingAdmissionPolicySpec
		mutatingSpec        = v1.MutatingAdmissionPolicySpec
		bindingSpec         = v1.ValidatingAdmissionPolicyBindingSpec
		mutatingBindingSpec = v1.MutatingAdmissionPolicyBindingSpec
	)
	for name, test := range map[string]struct{ object, want runtime.Object }{
		"validating policy, empty": {
			&v1.ValidatingAdmissionPolicy{},
			&v1.ValidatingAdmissionPolicy{Spec: policySpec{FailurePolicy: new(v1.Fail)}},
		},
		// A validation without failurePolicy has the policy's, and typeChecking and policyType have
		// no default.
		"validating policy": {
			&v1.ValidatingAdmissionPolicy{Spec: policySpec{MatchConstraints: match(), Validations: []v1.Validation{{Expression: "true"}}}},
			&v1.ValidatingAdmissionPolicy{Spec: policySpec{FailurePolicy: new(v1.Fail), MatchConstraints: matchDefaulted, Validations: []v1.Validation{{Expression: "true"}}}},
		},
		"validating policy, set": {
			&v1.ValidatingAdmissionPolicy{Spec: policySpec{FailurePolicy: new(v1.Ignore), MatchConstraints: matchSet.DeepCopy()}},
			&v1.ValidatingAdmissionPolicy{Spec: policySpec{FailurePolicy: new(v1.Ignore), MatchConstraints: matchSet}},
		},
		// reinvocationPolicy is required.
		"mutating policy": {
			&v1.MutatingAdmissionPolicy{Spec: mutatingSpec{MatchConstraints: match(), Mutations: []v1.Mutation{{}}}},
			&v1.MutatingAdmissionPolicy{Spec: mutatingSpec{FailurePolicy: new(v1.Fail), MatchConstraints: matchDefaulted, Mutations: []v1.Mutation{{}}}},
		},
		"mutating policy, set": {
			&v1.MutatingAdmissionPolicy{Spec: mutatingSpec{FailurePolicy: new(v1.Ignore), MatchConstraints: matchSet.DeepCopy()}},
			&v1.MutatingAdmissionPolicy{Spec: mutatingSpec{FailurePolicy: new(v1.Ignore), MatchConstraints: matchSet}},
		},
		// validationActions and parameterNotFoundAction have no default.
		"validating binding": {
			&v1.ValidatingAdmissionPolicyBinding{Spec: bindingSpec{ParamRef: &v1.ParamRef{Name: "x"}, MatchResources: match()}},
			&v1.ValidatingAdmissionPolicyBinding{Spec: bindingSpec{ParamRef: &v1.ParamRef{Name: "x"}, MatchResources: matchDefaulted}},
		},
		"validating binding, empty": {&v1.ValidatingAdmissionPolicyBinding{}, &v1.ValidatingAdmissionPolicyBinding{}},
		"mutating binding": {
			&v1.MutatingAdmissionPolicyBinding{Spec: mutatingBindingSpec{MatchResources: match()}},
			&v1.MutatingAdmissionPolicyBinding{Spec: mutatingBindingSpec{MatchResources: matchDefaulted}},
		},
		"mutating binding, empty": {&v1.MutatingAdmissionPolicyBinding{}, &v1.MutatingAdmissionPolicyBinding{}},
		"list of validating policies": {
			&v1.ValidatingAdmissionPolicyList{Items: []v1.ValidatingAdmissionPolicy{{}}},
			&v1.ValidatingAdmissionPolicyList{Items: []v1.ValidatingAdmissionPolicy{{Spec: policySpec{FailurePolicy: new(v1.Fail)}}}},
		},
		"list of mutating policies": {
			&v1.MutatingAdmissionPolicyList{Items: []v1.MutatingAdmissionPolicy{{}}},
			&v1.MutatingAdmissionPolicyList{Items: []v1.MutatingAdmissionPolicy{{Spec: mutatingSpec{FailurePolicy: new(v1.Fail)}}}},
		},
		"list of validating bindings": {
			&v1.ValidatingAdmissionPolicyBindingList{Items: []v1.ValidatingAdmissionPolicyBinding{{Spec: bindingSpec{MatchResources: match()}}}},
			&v1.ValidatingAdmissionPolicyBindingList{Items: []v1.ValidatingAdmissionPolicyBinding{{Spec: bindingSpec{MatchResources: matchDefaulted}}}},
		},
		"list of mutating bindings": {
			&v1.MutatingAdmissionPolicyBindingList{Items: []v1.MutatingAdmissionPolicyBinding{{Spec: mutatingBindingSpec{MatchResources: match()}}}},
			&v1.MutatingAdmissionPolicyBindingList{Items: []v1.MutatingAdmissionPolicyBinding{{Spec: mutatingBindingSpec{MatchResources: matchDefaulted}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, times := range []string{"once", "twice"} {
				scheme.Default(test.object)
				if diff := cmp.Diff(test.want, test.object); diff != "" {
					t.Errorf("defaulted %s, objects differ (-want +got):\n%s", times, diff)
				}
			}
		})
	}
}

// Objects must not share values that were set by default.
func TestDefaultsAreNotShared(t *testing.T) {
	var a, b v1.MatchResources
	defaults.SetDefaults_MatchResources(&a)
	defaults.SetDefaults_MatchResources(&b)
	if a.MatchPolicy == b.MatchPolicy || a.ObjectSelector == b.ObjectSelector || a.NamespaceSelector == b.NamespaceSelector || a.ObjectSelector == a.NamespaceSelector {
		t.Error("two fields have the same pointer")
	}
}

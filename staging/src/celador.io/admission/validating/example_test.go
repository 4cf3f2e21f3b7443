// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/validating"
)

func Example() {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "tiers.example.com"}}
	policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.Create},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes"}},
	}}}}
	policy.Spec.Validations = []v1.Validation{{Expression: "has(object.metadata.labels) && 'tier' in object.metadata.labels", Message: "a node needs the label 'tier'"}}
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	binding.Spec.PolicyName, binding.Spec.ValidationActions = policy.Name, []v1.ValidationAction{v1.Deny}

	engine := validating.NewEngine(validating.Config{})
	snapshot, err := engine.NewSnapshot(policy, binding)
	if err != nil {
		panic(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	request := admission.NewAttributesRecord(node, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", node.Name,
		corev1.SchemeGroupVersion.WithResource("nodes"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	result, err := engine.Evaluate(context.Background(), request, admission.NewObjectInterfacesFromScheme(scheme.Scheme), snapshot)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Err())
	// Output:
	// nodes "n1" is forbidden: ValidatingAdmissionPolicy 'tiers.example.com' with binding 'all' denied request: a node needs the label 'tier'
}

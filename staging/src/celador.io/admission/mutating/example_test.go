// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"context"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/mutating"
)

func Example() {
	policy := &v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "tiers.example.com"}}
	policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.Create},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"nodes"}},
	}}}}
	policy.Spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	policy.Spec.Mutations = []v1.Mutation{{
		PatchType:          v1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &v1.ApplyConfiguration{Expression: "Object{metadata: Object.metadata{labels: {'tier': 'default'}}}"},
	}}
	binding := &v1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	binding.Spec.PolicyName = policy.Name

	engine := mutating.NewEngine(mutating.Config{
		TypeConverters: mutating.SingleTypeConverter{TypeConverter: applyconfigurations.NewTypeConverter(scheme.Scheme)},
	})
	snapshot, err := engine.NewSnapshot(policy, binding)
	if err != nil {
		panic(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	request := admission.NewAttributesRecord(node, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", node.Name,
		corev1.SchemeGroupVersion.WithResource("nodes"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	result, err := engine.Mutate(context.Background(), request, admission.NewObjectInterfacesFromScheme(scheme.Scheme), mutating.Options{}, snapshot)
	if err == nil {
		err = result.Err()
	}
	fmt.Println(node.Labels, err)
	// Output: map[tier:default] <nil>
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Policy returns the i-th policy for a resource, with one variable and three validations, two of
// which have a messageExpression. Each policy has its own limits, so no two policies have the same
// expressions. The objects that Create accepts satisfy all policies.
func Policy(i int, resource string) *v1.ValidatingAdmissionPolicy {
	return PolicyOf(number("policy", i), resource, v1.ValidatingAdmissionPolicySpec{
		Variables: []v1.Variable{{Name: "containers", Expression: "object.spec.template.spec.containers"}},
		Validations: []v1.Validation{{
			Expression:        fmt.Sprintf("object.spec.replicas <= %d", 50+i),
			MessageExpression: fmt.Sprintf("'at most %d replicas, not ' + string(object.spec.replicas)", 50+i),
		}, {
			Expression:        fmt.Sprintf("variables.containers.all(c, c.image.startsWith('registry.example.com/team-%d/') || c.image.startsWith('registry.example.com/shared/'))", i),
			MessageExpression: "'not from the registry: ' + variables.containers.map(c, c.image).join(', ')",
		}, {
			Expression: "variables.containers.all(c, has(c.resources.limits) && 'memory' in c.resources.limits)",
			Message:    "every container needs a limit of memory",
		}},
	})
}

// PolicyOf returns a policy for writes of a resource. It has the metadata that a server sets.
func PolicyOf(name, resource string, spec v1.ValidatingAdmissionPolicySpec) *v1.ValidatingAdmissionPolicy {
	spec.FailurePolicy = new(v1.Fail)
	spec.MatchConstraints = &v1.MatchResources{
		MatchPolicy:       new(v1.Equivalent),
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector:    &metav1.LabelSelector{},
		ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
			Operations: []v1.OperationType{v1.Create, v1.Update},
			Rule:       v1.Rule{APIGroups: []string{groupOf(resource)}, APIVersions: []string{"v1"}, Resources: []string{resource}, Scope: new(v1.AllScopes)},
		}}},
	}
	return &v1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: stored(name),
		Spec:       spec,
	}
}

// stored returns metadata with the fields that a server sets.
func stored(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: "1", Generation: 1}
}

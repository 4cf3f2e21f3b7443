// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/validating"
)

// BenchmarkStore measures the update of one of 100,000 bindings, alone and together with a request
// that matches only the changed binding.
func BenchmarkStore(b *testing.B) {
	for _, shape := range []struct{ policies, bindings int }{{1000, 100}, {1, 100_000}} {
		s := store(manyPolicies(shape.policies, shape.bindings)...)
		variants := []*v1.ValidatingAdmissionPolicyBinding{bindingIn("blue", "b-00000-50", "p-00000"), bindingIn("blue", "b-00000-50", "p-00000")}
		variants[1].Spec.ValidationActions = []v1.ValidationAction{v1.Audit}
		server := newServer()
		engine := validating.NewEngine(validating.Config{Namespaces: server, Authorizer: server})
		request := create(1)
		for _, ask := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dx%d/request=%v", shape.policies, shape.bindings, ask), func(b *testing.B) {
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n++
					s.Set(variants[n%2])
					if !ask {
						continue
					}
					if result, err := engine.Evaluate(b.Context(), request, server, s.Snapshot()); err != nil || len(result.Decisions()) != 1 {
						b.Fatalf("got %+v, %v", result, err)
					}
				}
			})
		}
	}
}

// manyPolicies returns policies and their bindings. The first policy matches deployments, the
// others match widgets. Each binding selects another namespace.
func manyPolicies(policies, bindings int) []any {
	var objects []any
	for i := range policies {
		resource := widgets
		if i == 0 {
			resource = deployments
		}
		policy := policytest.Validating(fmt.Sprintf("p-%05d", i), v1.ValidatingAdmissionPolicySpec{MatchConstraints: policytest.Match(v1.Equivalent, ruleFor(resource)), Validations: policytest.Validations("true")})
		objects = append(objects, policy)
		for j := range bindings {
			objects = append(objects, bindingIn(fmt.Sprint("tenant-", j), fmt.Sprintf("b-%05d-%02d", i, j), policy.Name))
		}
	}
	return objects
}

// bindingIn returns a binding for namespaces with a label.
func bindingIn(color, name, policy string) *v1.ValidatingAdmissionPolicyBinding {
	b := policytest.Binding(name, policy)
	b.Spec.MatchResources = &v1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"color": color}}}
	return b
}

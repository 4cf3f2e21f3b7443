// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"celador.io/admission/policytest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

// BenchmarkBehindExpensivePolicy measures the time until a policy denies a request that is
// created right after one whose expression takes seconds to compile.
func BenchmarkBehindExpensivePolicy(b *testing.B) {
	s, plugin := newServer(b), newPlugin(b)
	s.initialize(b, plugin)
	s.run(b, plugin)
	policies := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	bindings := s.policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	write := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	for round := 0; b.Loop(); round++ {
		_, err := bindings.Create(b.Context(), policytest.Binding("few", "few", v1.Deny), metav1.CreateOptions{})
		write(err)
		nested := fmt.Sprintf("[%d]", round) + strings.Repeat(".map(a, {a: a})", 14)
		for _, policy := range []*v1.ValidatingAdmissionPolicy{
			policytest.Validating("expensive", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(nested + " == []")}),
			atMost("few", "5"),
		} {
			_, err := policies.Create(b.Context(), policy, metav1.CreateOptions{})
			write(err)
		}
		for plugin.Validate(b.Context(), create(9), interfaces()) == nil {
			runtime.Gosched()
		}
		b.StopTimer()
		write(policies.Delete(b.Context(), "expensive", metav1.DeleteOptions{}))
		write(policies.Delete(b.Context(), "few", metav1.DeleteOptions{}))
		write(bindings.Delete(b.Context(), "few", metav1.DeleteOptions{}))
		for plugin.Validate(b.Context(), create(9), interfaces()) != nil {
			runtime.Gosched()
		}
		b.StartTimer()
	}
}

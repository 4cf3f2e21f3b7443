// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package clients_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/client-go/applyconfigurations/admissionregistration/v1"
	"celador.io/client-go/clientset/fake"
)

// Fake clients merge what is applied to them as the server does.
func TestFakeApply(t *testing.T) {
	client := fake.NewClientset().AdmissionregistrationV1().ValidatingAdmissionPolicies()
	apply := func(manager string, spec *v1.ValidatingAdmissionPolicySpecApplyConfiguration) {
		t.Helper()
		if _, err := client.Apply(t.Context(), v1.ValidatingAdmissionPolicy("demo").WithSpec(spec), metav1.ApplyOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
	apply("one", v1.ValidatingAdmissionPolicySpec().WithFailurePolicy("Ignore"))
	apply("other", v1.ValidatingAdmissionPolicySpec().WithVariables(v1.Variable().WithName("a").WithExpression("1")))
	got, err := client.Get(t.Context(), "demo", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Spec.FailurePolicy == nil || *got.Spec.FailurePolicy != "Ignore" || len(got.Spec.Variables) != 1 {
		t.Errorf("spec is %+v, want what both managers have applied", got.Spec)
	}
	own, err := v1.ExtractValidatingAdmissionPolicy(got, "one")
	if err != nil {
		t.Fatal(err)
	}
	if own.Spec == nil || own.Spec.FailurePolicy == nil || own.Spec.Variables != nil {
		t.Errorf("extracted %+v, want what the manager has applied", own.Spec)
	}
}

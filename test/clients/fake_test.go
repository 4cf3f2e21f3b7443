// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package clients_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	apiv1 "celador.io/api/admissionregistration/v1"
	v1 "celador.io/client-go/applyconfigurations/admissionregistration/v1"
	"celador.io/client-go/clientset/fake"
)

// Fake clients merge apply configurations as the server does.
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

// Fake clients have the status of both kinds of policies, and merge apply configurations for it.
func TestFakeStatus(t *testing.T) {
	clients := fake.NewClientset().AdmissionregistrationV1()
	t.Run("validating", func(t *testing.T) {
		useStatus(t, clients.ValidatingAdmissionPolicies(),
			func(policy *apiv1.ValidatingAdmissionPolicy) *apiv1.ValidatingAdmissionPolicyStatus {
				return &policy.Status
			},
			v1.ValidatingAdmissionPolicy("demo").WithSpec(v1.ValidatingAdmissionPolicySpec().WithFailurePolicy("Ignore")),
			v1.ValidatingAdmissionPolicy("demo").WithStatus(v1.ValidatingAdmissionPolicyStatus().WithObservedCustomResources(limit)),
			v1.ValidatingAdmissionPolicy("demo").WithStatus(v1.ValidatingAdmissionPolicyStatus().WithConditions(available)))
	})
	t.Run("mutating", func(t *testing.T) {
		useStatus(t, clients.MutatingAdmissionPolicies(),
			func(policy *apiv1.MutatingAdmissionPolicy) *apiv1.ValidatingAdmissionPolicyStatus {
				return (*apiv1.ValidatingAdmissionPolicyStatus)(&policy.Status)
			},
			v1.MutatingAdmissionPolicy("demo").WithSpec(v1.MutatingAdmissionPolicySpec().WithFailurePolicy("Ignore")),
			v1.MutatingAdmissionPolicy("demo").WithStatus(v1.MutatingAdmissionPolicyStatus().WithObservedCustomResources(limit)),
			v1.MutatingAdmissionPolicy("demo").WithStatus(v1.MutatingAdmissionPolicyStatus().WithConditions(available)))
	})
}

var (
	limit     = v1.ObservedCustomResource().WithGroup("rules.example.com").WithVersion("v1").WithKind("Limit").WithGeneration(3)
	available = metaapply.Condition().WithType("Available").WithStatus(metav1.ConditionTrue).WithReason("Checked").WithMessage("").WithLastTransitionTime(metav1.Unix(1, 0))
)

// A statusClient is a client of policies of type P with apply configurations of type A.
type statusClient[P, A any] interface {
	Get(context.Context, string, metav1.GetOptions) (P, error)
	Apply(context.Context, A, metav1.ApplyOptions) (P, error)
	ApplyStatus(context.Context, A, metav1.ApplyOptions) (P, error)
	UpdateStatus(context.Context, P, metav1.UpdateOptions) (P, error)
}

// useStatus applies the spec and parts of the status with several field managers, and updates the
// status.
func useStatus[P, A any](t *testing.T, client statusClient[P, A], statusOf func(P) *apiv1.ValidatingAdmissionPolicyStatus, spec, observed, condition A) {
	t.Helper()
	if _, err := client.Apply(t.Context(), spec, metav1.ApplyOptions{FieldManager: "author"}); err != nil {
		t.Fatal(err)
	}
	for manager, status := range map[string]A{"observer": observed, "checker": condition} {
		if _, err := client.ApplyStatus(t.Context(), status, metav1.ApplyOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
	policy, err := client.Get(t.Context(), "demo", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	statusOf(policy).ObservedGeneration = 7
	if _, err := client.UpdateStatus(t.Context(), policy, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if policy, err = client.Get(t.Context(), "demo", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := statusOf(policy); got.ObservedGeneration != 7 || len(got.ObservedCustomResources) != 1 || len(got.Conditions) != 1 {
		t.Errorf("status is %+v, want what was applied and updated", got)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// Warnings about types arrive on create and on update, not with a write of the status, and not while the policy is deleted.
func TestTypeWarnings(t *testing.T) {
	strategy := policy.NewStrategy(policy.Validating, access, nil, func(_ context.Context, p *v1.ValidatingAdmissionPolicy) []string {
		return []string{p.Name + ": " + p.Spec.Validations[0].Expression}
	})
	deleted := func(obj policy.Object) { obj.SetDeletionTimestamp(&metav1.Time{}) }
	want := []string{"demo: object.spec.replcias <= 5"}
	mistyped := validating(expression("object.spec.replcias <= 5"))
	if got := strategy.WarningsOnCreate(t.Context(), mistyped); !slices.Equal(got, want) {
		t.Errorf("on create, got %q, want %q", got, want)
	}
	if got := strategy.WarningsOnUpdate(t.Context(), mistyped, validating()); !slices.Equal(got, want) {
		t.Errorf("on update, got %q, want %q", got, want)
	}
	if got := strategy.WarningsOnUpdate(t.Context(), validating(deleted), validating(deleted)); len(got) > 0 {
		t.Errorf("on deletion, got %q", got)
	}
	var status rest.RESTUpdateStrategy = policy.NewStatusStrategy(policy.Validating)
	if got := status.WarningsOnUpdate(t.Context(), mistyped, mistyped); len(got) > 0 {
		t.Errorf("of the status, got %q", got)
	}
}

func TestWarningsOfBindings(t *testing.T) {
	for i, kind := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"} {
		k := bindingKinds[i]
		strategy := k.strategy
		missing, existing := k.demo(policyName("no-such-policy")), k.demo()
		want := []string{"spec.policyName: " + kind + ` "no-such-policy" does not exist, and the binding has no effect until it does`}
		if got := strategy.WarningsOnCreate(t.Context(), missing); !slices.Equal(got, want) {
			t.Errorf("%s: on create, got %q, want %q", k.name, got, want)
		}
		if got := strategy.WarningsOnUpdate(t.Context(), missing, existing); !slices.Equal(got, want) {
			t.Errorf("%s: on update, got %q, want %q", k.name, got, want)
		}
		if got := strategy.WarningsOnCreate(t.Context(), existing); len(got) > 0 {
			t.Errorf("%s: with a policy, got %q", k.name, got)
		}
	}
}

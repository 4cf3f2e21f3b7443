// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// Warnings about types arrive on create and on update, not with a write of the status, and not
// while the policy is deleted.
func TestTypeWarnings(t *testing.T) {
	strategy := policy.NewStrategy(policy.Validating, access, nil, func(_ context.Context, p *v1.ValidatingAdmissionPolicy) []string {
		return []string{p.Name + ": " + p.Spec.Validations[0].Expression}
	}, policy.ValidatingBinding.PoliciesBoundBy(notServed))
	deleted := func(obj policy.APIObject) { obj.SetDeletionTimestamp(&metav1.Time{}) }
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

// An update of a policy that no binding names has a warning. A policy is created before its
// binding.
func TestUnboundPolicies(t *testing.T) {
	deleted := func(obj policy.APIObject) { obj.SetDeletionTimestamp(&metav1.Time{}) }
	want := []string{`the policy has no effect: no ValidatingAdmissionPolicyBinding has spec.policyName "demo"`}
	for name, tc := range map[string]struct {
		policy   policy.APIObject
		bindings policy.ListerGetter
		off      bool // the gate of Singletons
		want     []string
	}{
		"none":                    {policy: validating(), bindings: listing(validatingBindings()), want: want},
		"of others":               {policy: validating(), bindings: listing(validatingBindings("other", "demo2")), want: want},
		"bound":                   {policy: validating(), bindings: listing(validatingBindings("other", "demo"))},
		"singleton":               {policy: validating(singleton), bindings: listing(validatingBindings())},
		"singleton, gate off":     {policy: validating(singleton), bindings: listing(validatingBindings()), off: true, want: want},
		"being deleted":           {policy: validating(deleted), bindings: listing(validatingBindings())},
		"no list to read":         {policy: validating(), bindings: failing(errors.New("not ready"))},
		"bindings are not served": {policy: validating(), bindings: notServed},
	} {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ValidatingAdmissionPolicySingleton, !tc.off)
		strategy := policy.NewStrategy(policy.Validating, access, nil, nil, policy.ValidatingBinding.PoliciesBoundBy(tc.bindings))
		if got := strategy.WarningsOnUpdate(t.Context(), tc.policy, validating()); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
		if got := strategy.WarningsOnCreate(t.Context(), tc.policy); len(got) > 0 {
			t.Errorf("%s: on create, got %q", name, got)
		}
	}
}

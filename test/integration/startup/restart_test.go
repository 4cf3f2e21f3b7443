// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

var (
	webhooks = []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
	mutating = []string{"mutatingadmissionpolicies", "mutatingadmissionpolicies/status", "mutatingadmissionpolicybindings"}
	ours     = []string{"validatingadmissionpolicies", "validatingadmissionpolicies/status", "validatingadmissionpolicybindings"}
	all      = slices.Concat(mutating, webhooks[:1], ours, webhooks[1:])
)

// Policies survive a restart and a server that does not know the kinds. A server that knows them
// enforces them from its first request on.
func TestRestartAndFeatureGate(t *testing.T) {
	dir := t.TempDir()
	server := testserver.Start(t, dir)
	client := clientsOf(server)
	policy, binding := client.forbid(t)
	testserver.Eventually(t, func(context.Context) error {
		if !client.denied(t) {
			return fmt.Errorf("%s is not enforced yet", policy.Name)
		}
		return nil
	})
	for version, want := range map[string][]string{"v1": all, "v1beta1": nil, "v1alpha1": nil} {
		if diff := cmp.Diff(want, client.served(t, version)); diff != "" {
			t.Errorf("%s by default (-want +got):\n%s", version, diff)
		}
	}
	server.Stop()

	t.Run("restart", func(t *testing.T) {
		server := testserver.Start(t, dir)
		client := clientsOf(server)
		if !client.denied(t) {
			t.Error("the stored policy is not enforced")
		}
		got, err := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// The server writes the status.
		got.Status, got.ResourceVersion, got.ManagedFields = policy.Status, policy.ResourceVersion, policy.ManagedFields
		if diff := cmp.Diff(policy, got); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
		gotBinding, err := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(t.Context(), binding.Name, metav1.GetOptions{})
		if diff := cmp.Diff(binding, gotBinding); diff != "" || err != nil {
			t.Errorf("binding (-want +got):\n%s\n%v", diff, err)
		}
	})
	t.Run("gate off", func(t *testing.T) {
		server := testserver.Start(t, dir, "--feature-gates=ValidatingAdmissionPolicy=false",
			"--runtime-config="+group+"/v1beta1=true,"+group+"/v1alpha1=true")
		client := clientsOf(server)
		if client.denied(t) {
			t.Error("policies are enforced")
		}
		for version, want := range map[string][]string{"v1": slices.Concat(mutating, webhooks), "v1beta1": mutating, "v1alpha1": mutating} {
			if diff := cmp.Diff(want, client.served(t, version)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", version, diff)
			}
		}
		_, err := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("policies: got error %v, want not found", err)
		}
		_, err = client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("bindings: got error %v, want not found", err)
		}
		if _, err := client.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("webhooks: %v", err)
		}
	})
	t.Run("gate on again", func(t *testing.T) {
		server := testserver.Start(t, dir)
		if !clientsOf(server).denied(t) {
			t.Error("the stored policy is not enforced")
		}
	})
	t.Run("plugin disabled", func(t *testing.T) {
		server := testserver.Start(t, dir, "--disable-admission-plugins=ValidatingAdmissionPolicy")
		client := clientsOf(server)
		if client.denied(t) {
			t.Error("policies are enforced")
		}
		if diff := cmp.Diff(all, client.served(t, "v1")); diff != "" {
			t.Errorf("v1 (-want +got):\n%s", diff)
		}
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// A server applies the mutations in storage from its first request on: it rejects requests that
// it cannot change yet because it does not know its own schemas. With the gate disabled, the
// server serves the kinds, as Kubernetes does, and mutates nothing.
func TestMutations(t *testing.T) {
	const off = "--feature-gates=MutatingAdmissionPolicy=false"
	dir := t.TempDir()
	server := testserver.Start(t, dir)
	client := clientsOf(server)
	client.mutate(t, "patched", v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{{
		PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/data/patched", value: "yes"}]`},
	}}})
	client.mutate(t, "applied", v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{{
		PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: `Object{data: {"applied": "yes"}}`},
	}}})
	mutated, unchanged := map[string]string{"some": "data", "patched": "yes", "applied": "yes"}, map[string]string{"some": "data"}
	testserver.Eventually(t, func(ctx context.Context) error { return client.expectData(ctx, mutated) })
	server.Stop()

	t.Run("restart", func(t *testing.T) {
		server := testserver.Start(t, dir)
		clientsOf(server).expectAtOnce(t, mutated)
		server.Stop()
	})
	t.Run("gate off", func(t *testing.T) {
		server := testserver.Start(t, dir, off)
		client := clientsOf(server)
		if err := client.expectData(t.Context(), unchanged); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(all, client.served(t, "v1")); diff != "" {
			t.Errorf("served (-want +got):\n%s", diff)
		}
		server.Stop()
	})
	t.Run("gate on again", func(t *testing.T) {
		server := testserver.Start(t, dir)
		clientsOf(server).expectAtOnce(t, mutated)
	})
}

// mutate creates a policy for config maps and a binding with the same name.
func (c clients) mutate(t *testing.T, name string, spec v1.MutatingAdmissionPolicySpec) {
	t.Helper()
	spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.Create},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}}}
	if spec.ReinvocationPolicy == "" {
		spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	}
	client, meta := c.Policies.AdmissionregistrationV1(), metav1.ObjectMeta{Name: name}
	if _, err := client.MutatingAdmissionPolicies().Create(t.Context(), &v1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &v1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: name}}
	if _, err := client.MutatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// expectAtOnce checks that no request succeeds without the expected data.
func (c clients) expectAtOnce(t *testing.T, want map[string]string) {
	t.Helper()
	var last error
	testserver.Eventually(t, func(ctx context.Context) error {
		if last = c.expectData(ctx, want); apierrors.IsServiceUnavailable(last) {
			return last
		}
		return nil
	})
	if last != nil {
		t.Error(last)
	}
}

// expectData checks the data of a created config map.
func (c clients) expectData(ctx context.Context, want map[string]string) error {
	got, err := c.configMap(ctx, nil)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		return fmt.Errorf("data (-want +got):\n%s", diff)
	}
	return nil
}

// configMap creates a config map with the labels in a dry run.
func (c clients) configMap(ctx context.Context, labels map[string]string) (*corev1.ConfigMap, error) {
	return c.Core.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: labels}, Data: map[string]string{"some": "data"},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

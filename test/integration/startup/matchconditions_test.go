// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// Match conditions are evaluated only while their gate is enabled. They stay in storage while it
// is disabled. Webhooks without conditions do not depend on the gate.
func TestMatchConditionsGate(t *testing.T) {
	const off = "--feature-gates=AdmissionWebhookMatchConditions=false"
	dir := t.TempDir()
	hook := webhookserver.Admit(t, webhookserver.Allow)

	t.Run("on", func(t *testing.T) {
		client := hookedClient{clientsOf(testserver.Start(t, dir)), hook}
		client.configure(t, "unconditional")
		client.configure(t, "conditional", "object.data.mark == 'yes'", "request.name == 'data'")
		client.expectCalls(t, map[string][]string{"yes": {"conditional", "unconditional"}, "no": {"unconditional"}})
		client.expectConditions(t, "conditional", 2)
	})
	t.Run("off", func(t *testing.T) {
		client := hookedClient{clientsOf(testserver.Start(t, dir, off)), hook}
		all := []string{"conditional", "unconditional"}
		client.expectCalls(t, map[string][]string{"yes": all, "no": all})
		client.touch(t, "conditional")
		client.touch(t, "unconditional")
		client.expectConditions(t, "conditional", 2)
		client.expectConditions(t, "unconditional", 0)

		client.configure(t, "new", "false")
		client.expectConditions(t, "new", 0)
		all = append(all, "new")
		client.expectCalls(t, map[string][]string{"yes": all, "no": all})
	})
	t.Run("on again", func(t *testing.T) {
		client := hookedClient{clientsOf(testserver.Start(t, dir)), hook}
		client.expectCalls(t, map[string][]string{"yes": {"conditional", "new", "unconditional"}, "no": {"new", "unconditional"}})
		client.expectConditions(t, "conditional", 2)
	})
}

// hookedClient is a client of a server whose webhooks call the hook.
type hookedClient struct {
	clients
	hook *webhookserver.Admission
}

// configure creates a validating and a mutating configuration with a webhook.
func (c hookedClient) configure(t *testing.T, name string, expressions ...string) {
	t.Helper()
	var conditions []admissionregistrationv1.MatchCondition
	for i, expression := range expressions {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{Name: fmt.Sprintf("condition-%d", i), Expression: expression})
	}
	meta, title := metav1.ObjectMeta{Name: name}, name+".example.com"
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	where := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "default"}}
	none, reviews := new(admissionregistrationv1.SideEffectClassNone), []string{"v1"}
	client := c.Core.AdmissionregistrationV1()
	if _, err := client.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: meta,
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: title, ClientConfig: c.hook.ClientConfig("validating/" + name), Rules: rules, NamespaceSelector: where,
			MatchConditions: conditions, SideEffects: none, AdmissionReviewVersions: reviews,
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: meta,
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: title, ClientConfig: c.hook.ClientConfig("mutating/" + name), Rules: rules, NamespaceSelector: where,
			MatchConditions: conditions, SideEffects: none, AdmissionReviewVersions: reviews,
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// touch updates the labels of the configurations.
func (c hookedClient) touch(t *testing.T, name string) {
	t.Helper()
	patch := []byte(`{"metadata": {"labels": {"touched": "true"}}}`)
	client := c.Core.AdmissionregistrationV1()
	if _, err := client.ValidatingWebhookConfigurations().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.MutatingWebhookConfigurations().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Error(err)
	}
}

// expectConditions checks the number of conditions of the stored configurations.
func (c hookedClient) expectConditions(t *testing.T, name string, want int) {
	t.Helper()
	validating, err := c.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mutating, err := c.Core.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{len(validating.Webhooks[0].MatchConditions), len(mutating.Webhooks[0].MatchConditions)}; !slices.Equal(got, []int{want, want}) {
		t.Errorf("%s: got %v conditions of a validating and a mutating webhook, want %d of each", name, got, want)
	}
}

// expectCalls checks which webhooks of either kind are called for a config map with a mark, once
// all earlier writes are in effect.
func (c hookedClient) expectCalls(t *testing.T, want map[string][]string) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		got := map[string]map[string][]string{"validating": {}, "mutating": {}}
		for mark := range want {
			c.hook.Take()
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Data: map[string]string{"mark": mark}}
			if _, err := c.Core.CoreV1().ConfigMaps("default").Create(ctx, sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
				return err
			}
			for _, call := range c.hook.Take() {
				kind, name, _ := strings.Cut(call.Webhook, "/")
				got[kind][mark] = append(got[kind][mark], name)
			}
		}
		unordered := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		for kind, got := range got {
			if diff := cmp.Diff(want, got, unordered); diff != "" {
				return fmt.Errorf("called %s webhooks (-want +got):\n%s", kind, diff)
			}
		}
		return nil
	})
}

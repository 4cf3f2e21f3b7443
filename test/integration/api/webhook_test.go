// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

// The server serves webhook configurations beside policies, like Kubernetes.
func TestWebhookConfigurations(t *testing.T) {
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		client := stock(t, speaking(t, encoding)).AdmissionregistrationV1()
		t.Run("validating "+encoding, func(t *testing.T) {
			sent := &admissionregistrationv1.ValidatingWebhookConfiguration{Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "demo.example.com", ClientConfig: elsewhere(), Rules: someRules(),
				AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			}}}
			useWebhooks(t, client.ValidatingWebhookConfigurations(), sent, func(got *admissionregistrationv1.ValidatingWebhookConfiguration) {
				expectWebhookDefaults(t, got.Webhooks[0].FailurePolicy, got.Webhooks[0].MatchPolicy, got.Webhooks[0].TimeoutSeconds)
			})
		})
		t.Run("mutating "+encoding, func(t *testing.T) {
			sent := &admissionregistrationv1.MutatingWebhookConfiguration{Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "demo.example.com", ClientConfig: elsewhere(), Rules: someRules(),
				AdmissionReviewVersions: []string{"v1"}, SideEffects: new(admissionregistrationv1.SideEffectClassNone),
			}}}
			useWebhooks(t, client.MutatingWebhookConfigurations(), sent, func(got *admissionregistrationv1.MutatingWebhookConfiguration) {
				expectWebhookDefaults(t, got.Webhooks[0].FailurePolicy, got.Webhooks[0].MatchPolicy, got.Webhooks[0].TimeoutSeconds)
			})
		})
	}
}

func elsewhere() admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")}
}

// someRules returns rules that match no request of any test.
func someRules() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"none.example.com"}, APIVersions: []string{"v1"}, Resources: []string{"nothings"}},
	}}
}

func expectWebhookDefaults(t *testing.T, failurePolicy *admissionregistrationv1.FailurePolicyType, matchPolicy *admissionregistrationv1.MatchPolicyType, timeout *int32) {
	t.Helper()
	if *failurePolicy != admissionregistrationv1.Fail || *matchPolicy != admissionregistrationv1.Equivalent || *timeout != 10 {
		t.Errorf("got defaults %s, %s, %d s", *failurePolicy, *matchPolicy, *timeout)
	}
}

func useWebhooks[T any, P pointer[T], L runtime.Object](t *testing.T, client typed[P, L], sent P, check func(P)) {
	t.Helper()
	ctx, name := t.Context(), testserver.UniqueName("webhook")
	sent.SetName(name)
	sent.SetLabels(map[string]string{"run": name})
	mine := metav1.ListOptions{LabelSelector: "run=" + name}
	created := testserver.Must(client.Create(ctx, sent, metav1.CreateOptions{}))(t)
	check(created)

	got := testserver.Must(client.Get(ctx, name, metav1.GetOptions{}))(t)
	if diff := cmp.Diff(content(t, created), content(t, got)); diff != "" {
		t.Errorf("get (-created +got):\n%s", diff)
	}
	patch := []byte(`{"webhooks": [{"name": "demo.example.com", "failurePolicy": "Ignore"}]}`)
	patched := testserver.Must(client.Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}))(t)
	if patched.GetGeneration() != 2 {
		t.Errorf("generation %d after a change, want 2", patched.GetGeneration())
	}
	if listed := items(t, testserver.Must(client.List(ctx, mine))(t)); len(listed) != 1 || listed[0].GetName() != name {
		t.Errorf("listed %v, want the created object", listed)
	}
	if err := client.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: got error %v, want not found", err)
	}
}

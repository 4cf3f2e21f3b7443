// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// The webhook plugins read the configurations that Celador's API group serves.
func TestWebhooks(t *testing.T) {
	ns := admin.Namespace(t, nil)
	config := deny(t, "no thanks")
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	here := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}}
	none := new(admissionregistrationv1.SideEffectClassNone)
	meta := metav1.ObjectMeta{Name: testserver.UniqueName("webhook")}
	client := core.AdmissionregistrationV1()

	for name, tc := range map[string]struct {
		create func(context.Context) error
		remove func(context.Context) error
	}{
		"validating": {
			create: func(ctx context.Context) error {
				_, err := client.ValidatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
					ObjectMeta: meta,
					Webhooks: []admissionregistrationv1.ValidatingWebhook{{
						Name: "deny.example.com", ClientConfig: config, Rules: rules, NamespaceSelector: here, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
					}},
				}, metav1.CreateOptions{})
				return err
			},
			remove: func(ctx context.Context) error {
				return client.ValidatingWebhookConfigurations().Delete(ctx, meta.Name, metav1.DeleteOptions{})
			},
		},
		"mutating": {
			create: func(ctx context.Context) error {
				_, err := client.MutatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{
					ObjectMeta: meta,
					Webhooks: []admissionregistrationv1.MutatingWebhook{{
						Name: "deny.example.com", ClientConfig: config, Rules: rules, NamespaceSelector: here, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
					}},
				}, metav1.CreateOptions{})
				return err
			},
			remove: func(ctx context.Context) error {
				return client.MutatingWebhookConfigurations().Delete(ctx, meta.Name, metav1.DeleteOptions{})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			testserver.ExpectAdmitted(t, newConfigMap(t, ns, nil))
			if err := tc.create(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { testserver.ExpectDeleted(t, tc.remove(context.Background())) })
			testserver.Eventually(t, func(context.Context) error {
				err := newConfigMap(t, ns, nil)
				if want := `admission webhook "deny.example.com" denied the request: no thanks`; !apierrors.IsForbidden(err) || err.Error() != want {
					return fmt.Errorf("got error %w, want %s", err, want)
				}
				return nil
			})
			if err := tc.remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			testserver.Eventually(t, func(context.Context) error { return newConfigMap(t, ns, nil) })
		})
	}
}

// Webhooks that match everything are not called for policies and webhook configurations, so that
// an administrator can always delete them.
func TestWebhooksDoNotSeePolicies(t *testing.T) {
	ns, label, config := admin.Namespace(t, nil), testserver.UniqueName("label"), deny(t, "no thanks")
	labels := map[string]string{"run": label}
	everything := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
	}}
	mine := &metav1.LabelSelector{MatchLabels: labels}
	none := new(admissionregistrationv1.SideEffectClassNone)
	meta := metav1.ObjectMeta{Name: testserver.UniqueName("webhook")}
	client, ctx := core.AdmissionregistrationV1(), t.Context()
	testserver.Create(t, client.ValidatingWebhookConfigurations(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: meta,
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validating.example.com", ClientConfig: config, Rules: everything, ObjectSelector: mine, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
		}},
	})
	expectDenied := func(by string) {
		t.Helper()
		testserver.Eventually(t, func(ctx context.Context) error {
			sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data"), Labels: labels}}
			_, err := core.CoreV1().ConfigMaps(ns).Create(ctx, sent, metav1.CreateOptions{})
			if want := `admission webhook "` + by + `" denied the request: no thanks`; !apierrors.IsForbidden(err) || err.Error() != want {
				return fmt.Errorf("got error %w, want %s", err, want)
			}
			return nil
		})
	}
	expectDenied("validating.example.com")
	testserver.Create(t, client.MutatingWebhookConfigurations(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: meta,
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutating.example.com", ClientConfig: config, Rules: everything, ObjectSelector: mine, SideEffects: none, AdmissionReviewVersions: []string{"v1"},
		}},
	})
	expectDenied("mutating.example.com")

	// The policy matches nothing, but its label matches the selectors of the webhooks.
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("policy"), Labels: labels}}
	policy.Spec = testserver.Parse[v1.ValidatingAdmissionPolicySpec](t, configMaps("CREATE", testserver.UniqueName("nothing"))+`validations: [{expression: "true"}]`)
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: policy.ObjectMeta}
	binding.Spec = v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []v1.ValidationAction{v1.Deny}}
	ours := policies.AdmissionregistrationV1()
	_, err := ours.ValidatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)
	_, err = ours.ValidatingAdmissionPolicies().Patch(ctx, policy.Name, types.MergePatchType, []byte(`{"status": {"observedGeneration": 1}}`), metav1.PatchOptions{}, "status")
	testserver.ExpectAdmitted(t, err)
	_, err = ours.ValidatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{})
	testserver.ExpectAdmitted(t, err)
	patch := []byte(`{"metadata": {"labels": {"changed": "true"}}}`)
	_, err = ours.ValidatingAdmissionPolicies().Patch(ctx, policy.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	_, err = ours.ValidatingAdmissionPolicyBindings().Patch(ctx, binding.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	testserver.ExpectAdmitted(t, ours.ValidatingAdmissionPolicyBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{}))
	testserver.ExpectAdmitted(t, ours.ValidatingAdmissionPolicies().Delete(ctx, policy.Name, metav1.DeleteOptions{}))
}

// deny returns the client configuration of a webhook that denies all requests with the message.
func deny(t *testing.T, message string) admissionregistrationv1.WebhookClientConfig {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID:    review.Request.UID,
			Result: &metav1.Status{Message: message, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden},
		}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return admissionregistrationv1.WebhookClientConfig{
		URL:      &server.URL,
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

// The webhook plugins read manifests, too. Only webhooks from manifests are called for policies
// and webhook configurations.
func TestWebhooks(t *testing.T) {
	hook := denyAll(t)
	validating, mutating := t.TempDir(), t.TempDir()
	server := testserver.Start(t, t.TempDir(), configure(t, map[string]string{
		"ValidatingAdmissionWebhook": validating,
		"MutatingAdmissionWebhook":   mutating,
	}))
	client := clients{server.Clients()}
	check(t, client.write(t.Context(), "anything"), "")

	write(t, validating, "hook.yaml", webhook("ValidatingWebhookConfiguration", hook, "validated"))
	client.eventually(t, "validated", `admission webhook "validated.example.com" denied the request: no thanks`)
	write(t, mutating, "hook.yaml", webhook("MutatingWebhookConfiguration", hook, "mutated"))
	client.eventually(t, "mutated", `admission webhook "mutated.example.com" denied the request: no thanks`)
	check(t, client.write(t.Context(), "anything"), "")

	created, err := client.create(t.Context(), "unlabelled")
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{
		"validated": `admission webhook "validated.example.com" denied the request: no thanks`,
		"mutated":   `admission webhook "mutated.example.com" denied the request: no thanks`,
		"anything":  "",
	} {
		patch := []byte(`{"metadata": {"labels": {"write": "` + label + `"}}}`)
		_, err := client.Policies.AdmissionregistrationV1().ValidatingAdmissionPolicies().Patch(t.Context(), created.Name, types.MergePatchType, patch,
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		check(t, err, want)
	}
}

// webhook returns the manifest of a configuration for config maps and policies with a label.
func webhook(kind, clientConfig, label string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: %s
metadata: {name: %[3]s.static.k8s.io}
webhooks:
- name: %[3]s.example.com
  clientConfig: %[2]s
  rules: [{apiGroups: ["*"], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps, validatingadmissionpolicies]}]
  objectSelector: {matchLabels: {write: %[3]s}}
  sideEffects: None
  admissionReviewVersions: [v1]
`, kind, clientConfig, label)
}

// denyAll returns the client configuration in YAML of a webhook that denies all requests.
func denyAll(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "no thanks", Code: http.StatusForbidden}}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf("{url: %q, caBundle: %s}", server.URL, base64.StdEncoding.EncodeToString(certificate))
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package polyfill

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// A group of an aggregated server that has no OpenAPI v3 leaves the policies that name its types
// unchecked, and concerns no others.
func TestGroupWithoutSchemas(t *testing.T) {
	c, namespace := withLimit(t)
	group := schema.GroupVersion{Group: "things.example.com", Version: "v1"}
	resources := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, GroupVersion: group.String(),
		APIResources: []metav1.APIResource{{Name: "things", Kind: "Thing", Verbs: metav1.Verbs{"get", "list"}}},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/"+group.String() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(resources)
	}))
	defer server.Close()
	address := testserver.Must(url.Parse(server.URL))(t)
	port := testserver.Must(strconv.Atoi(address.Port()))(t)
	testserver.Must(c.Core.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "things"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{}))(t)
	services := c.Objects.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.things.example.com"},
		"spec": map[string]any{
			"group": group.Group, "version": group.Version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(10), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": namespace, "name": "things", "port": int64(port)},
		},
	}}
	testserver.Must(services.Create(t.Context(), service, metav1.CreateOptions{}))(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := c.Core.Discovery().ServerResourcesForGroupVersion(group.String())
		return err
	})

	c.start(t).awaitReady(t)
	c.awaitDenied(t, namespace, 20, "denied request: too many")
	things := parse[v1.ValidatingAdmissionPolicy](t, noTwenty)
	things.Name = "things.example.com"
	things.Spec.MatchConstraints.ResourceRules[0].APIGroups, things.Spec.MatchConstraints.ResourceRules[0].Resources = []string{group.Group}, []string{"things"}
	policies := c.polyfill.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	testserver.Must(policies.Create(t.Context(), things, metav1.CreateOptions{}))(t)
	for name, want := range map[string]metav1.Condition{
		things.Name:         {Status: metav1.ConditionUnknown, Reason: v1.PolicyReasonTypesNotFound, Message: `cannot resolve group version "things.example.com/v1"`},
		"limit.example.com": {Status: metav1.ConditionTrue, Reason: v1.PolicyReasonNoTypeErrors},
	} {
		testserver.Eventually(t, func(ctx context.Context) error {
			policy, err := policies.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			got := meta.FindStatusCondition(policy.Status.Conditions, v1.PolicyConditionTypeChecked)
			if got == nil || got.Status != want.Status || got.Reason != want.Reason || !strings.Contains(got.Message, want.Message) {
				return fmt.Errorf("policy %s has the condition %+v", name, got)
			}
			return nil
		})
	}
}

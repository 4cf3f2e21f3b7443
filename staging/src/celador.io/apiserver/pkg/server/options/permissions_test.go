// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiserver/pkg/features"
)

// A server without a permission on its main server is not ready, refuses writes at once with an
// error that names the permission, and answers reads. It recovers when the permission is granted.
func TestMissingPermissions(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, true)
	for missing, lacks := range map[string]func(*authorizationv1.ResourceAttributes) bool{
		"list namespaces": func(a *authorizationv1.ResourceAttributes) bool {
			return a.Verb == "list" && a.Resource == "namespaces"
		},
		"watch validatingadmissionpolicybindings.admissionregistration.k8s.io": func(a *authorizationv1.ResourceAttributes) bool {
			return a.Verb == "watch" && a.Resource == "validatingadmissionpolicybindings"
		},
		"list apiservices.apiregistration.k8s.io": func(a *authorizationv1.ResourceAttributes) bool {
			return a.Verb == "list" && a.Resource == "apiservices"
		},
		"list mutatingwebhookconfigurations.admissionregistration.k8s.io, watch mutatingwebhookconfigurations.admissionregistration.k8s.io": func(a *authorizationv1.ResourceAttributes) bool {
			return a.Group == "admissionregistration.k8s.io" && a.Resource == "mutatingwebhookconfigurations"
		},
	} {
		t.Run(missing, func(t *testing.T) {
			main := newMainServer(t)
			main.lacks.Store(&lacks)
			_, server := recommended(t, main)
			await := func(path string, want int) {
				t.Helper()
				var got int
				err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
					got = send(server.Handler, http.MethodGet, path).Code
					return got == want, nil
				})
				if err != nil {
					t.Fatalf("%s: got status %d, want %d", path, got, want)
				}
			}
			await("/readyz/policy-permissions", http.StatusInternalServerError)
			const widgets = "/apis/example.com/v1/namespaces/blue/widgets"
			refused := send(server.Handler, http.MethodPost, widgets)
			if refused.Code != http.StatusServiceUnavailable || !strings.Contains(refused.Body.String(), "main server: "+missing+`"`) {
				t.Errorf("got status %d for a write, want 503 and %q: %s", refused.Code, missing, refused.Body)
			}
			// This server has no storage of widgets.
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if method == http.MethodPost {
					main.lacks.Store(nil)
					await("/readyz/policy-permissions", http.StatusOK)
				}
				if got := send(server.Handler, method, widgets).Code; got != http.StatusNotFound {
					t.Errorf("got status %d for %s, want that it reaches the handler of the API", got, method)
				}
			}
		})
	}
}

func send(handler http.Handler, method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer
}

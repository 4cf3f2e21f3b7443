// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	"celador.io/celador/test/integration/testserver"
)

// The status of a policy follows the registration of an aggregated server for its type and its
// removal.
func TestAggregatedTypes(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]func(group string) string{
		"matched": func(group string) string {
			return matching(group, "v1", "widgets") + `validations: [{expression: object.spec.size < 5}]`
		},
		"parameters": func(group string) string {
			return matching("apps", "v1", "deployments") + `
paramKind: {apiVersion: ` + group + `/v1, kind: Widget}
validations: [{expression: object.spec.replicas < params.spec.size}]`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := testserver.UniqueName("aggregated") + ".example.com"
			policy := write(t, spec(group))
			expect(t, policy.Name, isMissing)
			for _, size := range []string{"integer", "string"} {
				want := fits
				if size == "string" {
					want = doesNotFit
				}
				unregister := register(t, group, serveWidgets(t, group, size))
				expect(t, policy.Name, want)
				unregister()
				expect(t, policy.Name, isMissing)
			}
		})
	}
}

// serveWidgets runs a server of group version v1, whose widgets have a size of the given type,
// until the end of the test. It returns its port.
func serveWidgets(t *testing.T, group, size string) int32 {
	t.Helper()
	documents := map[string]string{
		"/apis":       `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [` + aggregatedGroup + `]}`,
		"/apis/GROUP": aggregatedGroup,
		"/apis/GROUP/v1": `{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "GROUP/v1", "resources": [
			{"name": "widgets", "singularName": "widget", "kind": "Widget", "namespaced": true, "verbs": ["create", "get", "list", "watch"]}]}`,
		"/openapi/v3": `{"paths": {"apis/GROUP/v1": {"serverRelativeURL": "/openapi/v3/apis/GROUP/v1?hash=SIZE"}}}`,
		"/openapi/v3/apis/GROUP/v1": `{"openapi": "3.0.0", "info": {"title": "widgets", "version": "v1"}, "paths": {}, "components": {"schemas": {"Widget": {
			"type": "object",
			"properties": {"spec": {"type": "object", "properties": {"size": {"type": "SIZE"}}}},
			"x-kubernetes-group-version-kind": [{"group": "GROUP", "version": "v1", "kind": "Widget"}]}}}}`,
	}
	filled := strings.NewReplacer("GROUP", group, "SIZE", size)
	mux := http.NewServeMux()
	for path, document := range documents {
		mux.HandleFunc("GET "+filled.Replace(path), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write([]byte(filled.Replace(document))); err != nil {
				t.Error(err)
			}
		})
	}
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(port)
}

const aggregatedGroup = `{"kind": "APIGroup", "apiVersion": "v1", "name": "GROUP",
	"versions": [{"groupVersion": "GROUP/v1", "version": "v1"}], "preferredVersion": {"groupVersion": "GROUP/v1", "version": "v1"}}`

// register registers the server at a local port for group version v1 until the returned function
// is called or the test ends.
func register(t *testing.T, group string, port int32) (unregister func()) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("widgets")},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	services := core.CoreV1().Services(metav1.NamespaceDefault)
	registrations := testserver.Must(aggregator.NewForConfig(admin.Config))(t).ApiregistrationV1().APIServices()
	testserver.Must(services.Create(t.Context(), service, metav1.CreateOptions{}))(t)
	registration := testserver.Must(registrations.Create(t.Context(), &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: "v1." + group},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: group, Version: "v1", GroupPriorityMinimum: 1000, VersionPriority: 15,
			Service:               &apiregistrationv1.ServiceReference{Namespace: metav1.NamespaceDefault, Name: service.Name, Port: &port},
			InsecureSkipTLSVerify: true,
		},
	}, metav1.CreateOptions{}))(t)
	unregister = func() {
		if err := registrations.Delete(context.Background(), registration.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if err := services.Delete(context.Background(), service.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	t.Cleanup(unregister)
	return unregister
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
)

// An apiServer answers what a controller asks about the types of a cluster.
type apiServer struct {
	// answers maps paths to JSON.
	answers map[string]string
	// events are sent to the watch of a path.
	events map[string]chan string
}

// ServeHTTP implements http.Handler.
func (s apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer, known := s.answers[r.URL.Path]
	switch {
	case !known:
		http.NotFound(w, r)
	case r.URL.Query().Has("sendInitialEvents"):
		w.WriteHeader(http.StatusUnprocessableEntity) // an informer then lists
	case r.URL.Query().Has("watch"):
		w.(http.Flusher).Flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case event := <-s.events[r.URL.Path]:
				_, _ = fmt.Fprintln(w, event)
				w.(http.Flusher).Flush()
			}
		}
	default:
		_, _ = fmt.Fprint(w, answer)
	}
}

// list returns a list of objects in JSON.
func list(version, kind string, items ...string) string {
	return fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"resourceVersion": "1"}, "items": [%s]}`, version, kind, strings.Join(items, ","))
}

func apiService(group, spec, labels string) string {
	return fmt.Sprintf(`{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.%[1]s", "uid": %[1]q, "resourceVersion": "2", "labels": {%[3]s}},
		"spec": {"group": %[1]q, "version": "v1", %[2]s "groupPriorityMinimum": 1, "versionPriority": 1}}`, group, spec, labels)
}

// A host that knows types from a cluster only checks built-in types, custom resources, and types of
// aggregated servers as far as these describe them. Types that the cluster serves later are checked
// when it does.
func TestTypesOfACluster(t *testing.T) {
	const (
		builtIn  = `"kube-aggregator.kubernetes.io/automanaged": "onstart"`
		ofCRD    = `"kube-aggregator.kubernetes.io/automanaged": "true"`
		services = "/apis/apiregistration.k8s.io/v1/apiservices"
	)
	resources := func(version, name, kind string) string {
		return fmt.Sprintf(`{"kind": "APIResourceList", "groupVersion": %q, "resources": [{"name": %q, "kind": %q}]}`, version, name, kind)
	}
	document := func(group, kind string) string {
		return fmt.Sprintf(`{"components": {"schemas": {"it": {"type": "object", "description": "x",
			"properties": {"spec": {"type": "object", "properties": {"size": {"type": "string"}}}, "metadata": {"type": "object", "properties": {"name": {"type": "string"}}}},
			"x-kubernetes-group-version-kind": [{"group": %q, "version": "v1", "kind": %q}]}}}}`, group, kind)
	}
	crd, err := json.Marshal(widgets(t, "a", 1, "{size: {type: string, description: x, maxLength: 5}}"))
	if err != nil {
		t.Fatal(err)
	}
	api := apiServer{events: map[string]chan string{services: make(chan string, 1)}, answers: map[string]string{
		services: list("apiregistration.k8s.io/v1", "APIServiceList",
			apiService("", "", builtIn), apiService("apps", "", builtIn), apiService("example.com", "", ofCRD),
			apiService("metrics.io", `"service": {"namespace": "x", "name": "y"},`, "")),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": list("apiextensions.k8s.io/v1", "CustomResourceDefinitionList", string(crd)),
		"/apis/apps/v1":       resources("apps/v1", "deployments", "Deployment"),
		"/apis/metrics.io/v1": resources("metrics.io/v1", "podmetrics", "PodMetric"),
		"/apis/batch/v1":      resources("batch/v1", "jobs", "Job"),
		"/openapi/v3": `{"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1"}, "apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1"},
			"apis/batch/v1": {"serverRelativeURL": "/openapi/v3/apis/batch/v1"}}}`,
		"/openapi/v3/api/v1":        document("", "Namespace"),
		"/openapi/v3/apis/apps/v1":  document("apps", "Deployment"),
		"/openapi/v3/apis/batch/v1": document("batch", "Job"),
	}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close) // after the context of the test, with which watches end

	policies := fake.NewClientset()
	for resource, group := range map[string]string{"deployments": "apps", "podmetrics": "metrics.io", "widgets": "example.com", "jobs": "batch"} {
		p := policy(t, fmt.Sprintf(`{typeChecking: Enforced, matchConstraints: {resourceRules: [{apiGroups: [%s], apiVersions: [v1], resources: [%s], operations: [CREATE]}]},
			validations: [{expression: object.spec.size < 5}, {expression: object.metadata.name != 5}]}`, group, resource), "{}")
		p.Name = resource
		if err := policies.Tracker().Add(p); err != nil {
			t.Fatal(err)
		}
	}
	factory, stored := informers.NewSharedInformerFactory(policies, 0), &verdicts{typeErrors: map[string]int{}}
	controller, err := admissionpolicystatus.NewForCluster(&rest.Config{Host: server.URL}, admissionpolicystatus.Config{
		Kinds:    []*admissionpolicystatus.Descriptor{admissionpolicystatus.Validating(policies, factory, expression.Default(), policyspec.Features{policyspec.TypeEnforcement: true})},
		Verdicts: stored.stores("ValidatingAdmissionPolicy"),
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.StartWithContext(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		controller.Run(t.Context())
	}()
	t.Cleanup(func() { <-ended })

	expect := func(when string, want map[string]int) {
		t.Helper()
		var got string // after each policy's name, the number of type errors in its verdict
		err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			stored.lock.Lock()
			defer stored.lock.Unlock()
			got = fmt.Sprint(stored.typeErrors)
			return got == fmt.Sprint(want), nil
		})
		if err != nil {
			t.Errorf("%s: got verdicts %s, want %v", when, got, want)
		}
	}
	expect("at first", map[string]int{"deployments": 2, "widgets": 2, "podmetrics": 0, "jobs": 0})
	api.events[services] <- `{"type": "ADDED", "object": ` + apiService("batch", "", builtIn) + `}`
	expect("after an upgrade", map[string]int{"deployments": 2, "widgets": 2, "podmetrics": 0, "jobs": 2})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api tests how a running server serves group admissionregistration.k8s.io
// to clients. All tests share one server that serves every version of the group.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/testserver"
	"celador.io/client-go/clientset"
)

const (
	group    = "admissionregistration.k8s.io"
	policies = "validatingadmissionpolicies"
	bindings = "validatingadmissionpolicybindings"

	mutatingPolicies = "mutatingadmissionpolicies"
	mutatingBindings = "mutatingadmissionpolicybindings"
)

// versions are the versions that serve each resource, in order of preference. Kubernetes has
// removed all but one of validating policies.
var versions = map[string][]string{
	policies: {"v1"}, bindings: {"v1"},
	mutatingPolicies: {"v1", "v1beta1", "v1alpha1"}, mutatingBindings: {"v1", "v1beta1", "v1alpha1"},
}

// kinds maps resources to kinds.
var kinds = map[string]string{
	policies: "ValidatingAdmissionPolicy", bindings: "ValidatingAdmissionPolicyBinding",
	mutatingPolicies: "MutatingAdmissionPolicy", mutatingBindings: "MutatingAdmissionPolicyBinding",
}

// admin is the configuration of a client that may do everything.
var admin *rest.Config

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(clients testserver.Clients) { admin = clients.Config },
		"--runtime-config="+group+"/v1beta1=true,"+group+"/v1alpha1=true"))
}

func stock(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func celador(t *testing.T, config *rest.Config) clientset.Interface {
	t.Helper()
	client, err := clientset.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// raw returns a dynamic client of a resource in a version.
func raw(t *testing.T, config *rest.Config, version, resource string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
}

// object returns an object of the kind that the resource serves, with a spec in YAML.
func object(t *testing.T, version, resource, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version,
		"kind":       kinds[resource],
		"metadata":   map[string]any{"name": name},
		"spec":       parse(t, spec),
	}}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return content
}

// create creates an object, deletes it at the end of the test, and returns it with its status.
func create(t *testing.T, client dynamic.ResourceInterface, obj *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := client.Create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, client, obj.GetName()) })
	return settled(t, client, created.GetName())
}

// settled returns the named object once its status is complete: the server writes the status of a
// policy once for each generation.
func settled(t *testing.T, client dynamic.ResourceInterface, name string) (obj *unstructured.Unstructured) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) (err error) {
		if obj, err = client.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		fields := content(t, obj)
		if fields["spec"].(map[string]any)["matchConstraints"] == nil {
			return nil
		}
		conditions, _, _ := unstructured.NestedSlice(fields, "status", "conditions")
		for _, condition := range conditions {
			if c := condition.(map[string]any); c["type"] == "TypeChecked" && c["observedGeneration"] == float64(obj.GetGeneration()) {
				return nil
			}
		}
		return fmt.Errorf("%s has no status of generation %d", name, obj.GetGeneration())
	})
	return obj
}

// remove deletes an object that may be deleted already.
func remove(t *testing.T, client dynamic.ResourceInterface, name string) {
	if err := client.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// get decodes the response of a path such as "/apis". An empty accept stands for JSON.
func get(t *testing.T, path, accept string, into any) {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
	request := stock(t, admin).Discovery().RESTClient().Get().AbsPath(path).SetHeader("Accept", cmp.Or(accept, "application/json"))
	for name, values := range testserver.Must(url.ParseQuery(query))(t) {
		request.Param(name, values[0])
	}
	content := testserver.Must(request.DoRaw(t.Context()))(t)
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

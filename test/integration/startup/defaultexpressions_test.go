// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

const (
	defaultsGate = "--feature-gates=CustomResourceDefaultExpressions=true"
	greetings    = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greetings.defaults.example.com}
spec:
  group: defaults.example.com
  scope: Cluster
  names: {kind: Greeting, plural: greetings}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-default: [{field: spec.text, rule: "'Hello ' + self.metadata.name"}]
        properties:
          spec: {type: object, properties: {text: {type: string}}}
`
)

// A server with the gate off keeps the rules that another one has stored, without evaluating them,
// and drops new ones.
func TestDefaultExpressionsAcrossGates(t *testing.T) {
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	resource := schema.GroupVersionResource{Group: "defaults.example.com", Version: "v1", Resource: "greetings"}
	definition := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, greetings)}
	greeting := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "defaults.example.com/v1", "kind": "Greeting", "metadata": map[string]any{"name": name}, "spec": map[string]any{},
		}}
	}
	dir := t.TempDir()
	// start starts a server and waits until it serves greetings.
	start := func(t *testing.T, args ...string) clients {
		t.Helper()
		client := clientsOf(testserver.Start(t, dir, args...))
		if _, err := client.Objects.Resource(crds).Get(t.Context(), definition.GetName(), metav1.GetOptions{}); err != nil {
			testserver.Must(client.Objects.Resource(crds).Create(t.Context(), definition, metav1.CreateOptions{}))(t)
		}
		testserver.Eventually(t, func(ctx context.Context) error {
			_, err := client.Objects.Resource(resource).List(ctx, metav1.ListOptions{})
			return err
		})
		return client
	}
	expect := func(t *testing.T, client clients, name, want string) {
		t.Helper()
		object := testserver.Must(client.Objects.Resource(resource).Get(t.Context(), name, metav1.GetOptions{}))(t)
		if text, _, _ := unstructured.NestedString(object.Object, "spec", "text"); text != want {
			t.Errorf("got the text %q of %s, want %q", text, name, want)
		}
	}
	hasRule := func(t *testing.T, crd *unstructured.Unstructured) bool {
		t.Helper()
		text := testserver.Must(crd.MarshalJSON())(t)
		return strings.Contains(string(text), "x-kubernetes-default")
	}

	t.Run("on", func(t *testing.T) {
		client := start(t, defaultsGate)
		testserver.Must(client.Objects.Resource(resource).Create(t.Context(), greeting("first"), metav1.CreateOptions{}))(t)
		expect(t, client, "first", "Hello first")
	})
	t.Run("off", func(t *testing.T) {
		client := start(t)
		testserver.Must(client.Objects.Resource(resource).Create(t.Context(), greeting("second"), metav1.CreateOptions{}))(t)
		expect(t, client, "first", "Hello first")
		expect(t, client, "second", "")
		kept := testserver.Must(client.Objects.Resource(crds).Patch(t.Context(), definition.GetName(), types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`), metav1.PatchOptions{}))(t)
		if !hasRule(t, kept) {
			t.Error("an update of the labels has removed the rule")
		}
		other := definition.DeepCopy()
		other.SetName("others.defaults.example.com")
		other.Object["spec"].(map[string]any)["names"] = map[string]any{"kind": "Other", "plural": "others"}
		created := testserver.Must(client.Objects.Resource(crds).Create(t.Context(), other, metav1.CreateOptions{}))(t)
		if hasRule(t, created) {
			t.Error("a new rule is kept")
		}
	})
	t.Run("on again", func(t *testing.T) {
		client := start(t, defaultsGate)
		expect(t, client, "second", "Hello second")
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// seats returns the manifest of a CustomResourceDefinition whose versions v1 and v2 have the field
// key under another name.
func seats(scope string) string {
	return `
metadata: {name: seats.lookups.example.com}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: lookups.example.com
  names: {kind: Seat, plural: seats}
  scope: ` + scope + `
  conversion:
    strategy: ConversionRules
    converters:
    - {fromVersion: v1, toVersion: v2, rules: [{field: number, rule: self.key}]}
    - {fromVersion: v2, toVersion: v1, rules: [{field: key, rule: self.number}]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {key: {type: string, default: key}}}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {number: {type: string, default: key}}}}}`
}

// seat creates and deletes a seat with a name, and expects that a policy finds it in between only.
func seat(t *testing.T, client dynamic.ResourceInterface, name string, try func(context.Context) error) {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lookups.example.com/v1", "kind": "Seat", "metadata": map[string]any{"name": name}}}
	testserver.Must(client.Create(t.Context(), object, metav1.CreateOptions{}))(t)
	if err := try(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := try(t.Context()); err == nil || !strings.Contains(err.Error(), "the seat is missing") {
		t.Fatalf("got error %v, want that the seat is missing", err)
	}
}

// Latest lookups of custom resources find what was stored a moment ago, and nothing that was deleted,
// in each version, and while the CustomResourceDefinition changes.
func TestLatestCustomResources(t *testing.T) {
	crds := admin.Objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	resource := admin.Objects.Resource(schema.GroupVersionResource{Group: "lookups.example.com", Version: "v1", Resource: "seats"})
	namespaces := map[string]string{}
	for version, field := range map[string]string{"v1": "key", "v2": "number"} {
		namespaces[version] = admin.Namespace(t, nil)
		validate(t, configMaps(namespaces[version])+`
lookups: [{name: seats, apiVersion: lookups.example.com/`+version+`, kind: Seat, consistency: Latest, index: item.`+field+`}]
validations:
- {expression: lookups.seats.get('a').hasValue() == (lookups.seats.indexed('key').size() > 0), message: the index differs}
- {expression: lookups.seats.get('a').hasValue(), message: the seat is missing}`)
	}
	try := func(version string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := tryConfigMap(ctx, namespaces[version])
			return err
		}
	}
	known := func() {
		t.Helper()
		for version := range namespaces {
			await(t, "the seat is missing", try(version))
		}
	}
	await(t, "lookup 'seats' of Seat in lookups.example.com/v1 failed: ", try("v1"))
	admin.Define(t, seats("Namespaced"))
	known()
	changes := 0
	for i := range 60 {
		if i%15 == 14 {
			changes++
			patch := fmt.Sprintf(`[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/more%d", "value": {"type": "string"}}]`, changes)
			testserver.Must(crds.Patch(t.Context(), "seats.lookups.example.com", types.JSONPatchType, []byte(patch), metav1.PatchOptions{}))(t)
		}
		version := []string{"v1", "v2"}[i%2]
		seat(t, resource.Namespace(namespaces[version]), "a", try(version))
	}

	if err := crds.Delete(t.Context(), "seats.lookups.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	definition := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, seats("Cluster"))}
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := crds.Create(ctx, definition, metav1.CreateOptions{})
		return err
	})
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "lookups.example.com/v1", "kind": "Seat", "metadata": map[string]any{"name": "a"}}}
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := resource.Create(ctx, object, metav1.CreateOptions{})
		return err
	})
	for version := range namespaces {
		await(t, "", try(version))
	}
	if err := resource.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		seat(t, resource, "a", try([]string{"v1", "v2"}[i%2]))
	}
}

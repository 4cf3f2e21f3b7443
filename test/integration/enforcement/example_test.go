// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/restmapper"

	"celador.io/celador/test/integration/testserver"
)

// TestReplicaLimitExample checks the manifests of the quickstart.
func TestReplicaLimitExample(t *testing.T) {
	for _, file := range []string{"namespace.yaml", "policy.yaml", "binding.yaml"} {
		if err := applyExample(t, file); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	settle(t)

	testserver.ExpectAdmitted(t, applyExample(t, "deployment-admitted.yaml"))
	denied := applyExample(t, "deployment-denied.yaml")
	by := denier{"demo-policy.example.com", "demo-binding-test.example.com"}
	by.expectInvalid(t, denied, "failed expression: object.spec.replicas <= 5")
	const want = `deployments.apps "web-denied" is forbidden: ValidatingAdmissionPolicy 'demo-policy.example.com' with binding ` +
		`'demo-binding-test.example.com' denied request: failed expression: object.spec.replicas <= 5`
	if denied.Error() != want {
		t.Errorf("got  %s\nwant %s", denied, want)
	}
}

// applyExample applies a manifest and deletes its objects at the end of the test.
func applyExample(t *testing.T, file string) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "replica-limit", file))
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, string(text))}
	groups, err := restmapper.GetAPIGroupResources(core.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version)
	if err != nil {
		t.Fatal(err)
	}
	client := objects.Resource(mapping.Resource).Namespace(obj.GetNamespace())
	_, err = client.Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test"})
	// A deleted namespace would remain, because no controller finalizes it.
	if obj.GetKind() != "Namespace" {
		t.Cleanup(func() {
			testserver.ExpectDeleted(t, client.Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}))
		})
	}
	return err
}

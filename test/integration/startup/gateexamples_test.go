// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package startup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"celador.io/celador/test/integration/testserver"
)

// testExamples applies the manifests of the examples for alpha gates to a server that enables
// them.
func testExamples(t *testing.T, server *testserver.Server) {
	for name, denials := range map[string]map[string]string{
		"singleton": {"deployment-denied.yaml": `ValidatingAdmissionPolicy 'fixed-images.example.com' denied request: ` +
			`images need a fixed tag or a digest: registry.k8s.io/pause:latest`},
		"validation-failure-policy": {
			"deployment-denied.yaml": `ValidatingAdmissionPolicy 'workload-limits.example.com' with binding 'workload-limits-demo.example.com' denied request: ` +
				`expression 'object.spec.template.spec.securityContext.runAsNonRoot == true' resulted in error: no such key: runAsNonRoot`,
			"deployment-denied-memory.yaml": `ValidatingAdmissionPolicy 'workload-limits.example.com' with binding 'workload-limits-demo.example.com' ` +
				`denied request: a container may have 2Gi of memory`,
		},
		"fallback-binding": {"deployment-denied.yaml": `ValidatingAdmissionPolicy 'replicas-by-namespace.example.com' with binding ` +
			`'replicas-fallback.example.com' denied request: at most 3 replicas are allowed`},
		"type-enforcement": {
			"deployment-denied.yaml": `ValidatingAdmissionPolicy 'typed-replica-limit.example.com' with binding 'typed-replica-limit-demo.example.com' ` +
				`denied request: at most 5 replicas are allowed`,
			"policy-refused.yaml": "spec.validations[0].expression: Invalid value: apps/v1, Kind=Deployment: " +
				"ERROR: <input>:1:12: undefined field 'relpicas'\n | object.spec.relpicas <= 5\n | ...........^",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "..", "..", "examples", name)
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var setup, requests []string
			for _, entry := range entries {
				if strings.HasPrefix(entry.Name(), "deployment") || strings.HasSuffix(entry.Name(), "-refused.yaml") {
					requests = append(requests, entry.Name())
				} else if filepath.Ext(entry.Name()) == ".yaml" && entry.Name() != "suite.yaml" {
					setup = append(setup, entry.Name())
				}
			}
			// Namespaces must exist before their objects.
			slices.SortStableFunc(setup, func(a, b string) int { return order(a) - order(b) })
			for _, file := range setup {
				obj, client := example(t, server, filepath.Join(dir, file))
				if _, err := client.Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				// A deleted namespace would remain, because no controller finalizes it.
				if obj.GetKind() != "Namespace" {
					t.Cleanup(func() {
						if err := client.Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}); err != nil {
							t.Error(err)
						}
					})
				}
			}
			for _, file := range requests {
				obj, client := example(t, server, filepath.Join(dir, file))
				testserver.Eventually(t, func(ctx context.Context) error {
					_, err := client.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
					want, denied := denials[file]
					if denied && (!apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), " is "+rejection(file)+": "+want)) {
						return fmt.Errorf("%s: got error %w, want %s", file, err, want)
					}
					if !denied && err != nil {
						return fmt.Errorf("%s: got error %w, want it admitted", file, err)
					}
					return nil
				})
			}
			if len(requests) != len(denials)+1 {
				t.Errorf("got requests %v, want one to be admitted and these to be denied: %v", requests, denials)
			}
		})
	}
}

// rejection returns the message with which the server rejects a file's object.
func rejection(file string) string {
	if strings.HasPrefix(file, "policy") {
		return "invalid"
	}
	return "forbidden"
}

func order(file string) int {
	if strings.HasPrefix(file, "namespace") {
		return 0
	}
	return 1
}

// example returns the object of a manifest and a client for its resource.
func example(t *testing.T, server *testserver.Server, path string) (*unstructured.Unstructured, dynamic.ResourceInterface) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	obj := parse(t, string(text))
	groups, err := restmapper.GetAPIGroupResources(clientsOf(server).Core.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version)
	if err != nil {
		t.Fatal(err)
	}
	return obj, server.Clients().Objects.Resource(mapping.Resource).Namespace(obj.GetNamespace())
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaultexpressions

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// A resource is a kind of services in a group of its own.
type resource struct {
	group, namespace string
	// written is the CustomResourceDefinition as it was created.
	written *unstructured.Unstructured
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// serviceRules are the rules of spec: the example of the proposal, and rules that depend on each
// other.
const serviceRules = `
            x-kubernetes-default:
            - {field: externalTrafficPolicy, rule: "has(self.type) && self.type == 'LoadBalancer' ? 'Cluster' : null"}
            - {field: host, rule: "self.name + '.example.com'"}
            - {field: url, rule: "'https://' + self.host"}`

// define creates a CustomResourceDefinition with versions v1, which is stored, and v2. rules are
// the rules of spec in v1.
func define(t *testing.T, rules string) *resource {
	t.Helper()
	r := &resource{group: testserver.UniqueName("g") + ".example.com", namespace: admin.Namespace(t, nil)}
	manifest := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: services.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Service, plural: services}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: &schema
      openAPIV3Schema:
        type: object
        x-kubernetes-default:
        - {field: spec.name, rule: self.metadata.name}
        properties:
          spec:
            type: object%[2]s
            properties: &properties
              name: {type: string}
              type: {type: string, default: ClusterIP}
              externalTrafficPolicy: {type: string}
              host: {type: string, description: The DNS name.}
              url: {type: string}
              input: {type: string}
              ports:
                type: array
                maxItems: 10
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port]
                items:
                  type: object
                  required: [port]
                  x-kubernetes-default: [{field: target, rule: self.port}]
                  properties:
                    port: {type: integer}
                    target: {type: integer}
          status: &status
            type: object
            x-kubernetes-default: [{field: summary, rule: "string(self.ready) + ' ready'"}]
            properties:
              ready: {type: integer}
              summary: {type: string}
  - name: v2
    served: true
    storage: false
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: *properties}
          status: *status
`, r.group, rules)
	r.written = &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, manifest)}
	testserver.Create[*unstructured.Unstructured](t, crdCreator{}, r.written)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := r.in("v1").List(ctx, metav1.ListOptions{})
		return err
	})
	return r
}

// crdCreator creates CustomResourceDefinitions with fields that Kubernetes' types do not have.
type crdCreator struct{}

func (crdCreator) Create(ctx context.Context, crd *unstructured.Unstructured, options metav1.CreateOptions) (*unstructured.Unstructured, error) {
	return admin.Objects.Resource(crds).Create(ctx, crd, options)
}

func (crdCreator) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return admin.Objects.Resource(crds).Delete(ctx, name, options)
}

func (r *resource) in(version string) dynamic.ResourceInterface {
	return admin.Objects.Resource(schema.GroupVersionResource{Group: r.group, Version: version, Resource: "services"}).Namespace(r.namespace)
}

// service returns a service of version v1. fields are its spec and status, in YAML.
func (r *resource) service(t *testing.T, name, fields string) *unstructured.Unstructured {
	t.Helper()
	object := testserver.Parse[map[string]any](t, fields)
	object["apiVersion"], object["kind"] = r.group+"/v1", "Service"
	object["metadata"] = map[string]any{"name": name}
	return &unstructured.Unstructured{Object: object}
}

// expect compares fields of a service, given as path: value, with their wanted values. A missing
// field is empty.
func expect(t *testing.T, object *unstructured.Unstructured, want map[string]string) {
	t.Helper()
	if object == nil {
		t.Fatal("no object")
	}
	for path, value := range want {
		got, found, err := unstructured.NestedFieldNoCopy(object.Object, strings.Split(path, ".")...)
		if err != nil {
			t.Error(err)
		}
		text := ""
		if found {
			text = fmt.Sprint(got)
		}
		if text != value {
			t.Errorf("got %s %q, want %q", path, text, value)
		}
	}
}

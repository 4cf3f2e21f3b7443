// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/celador/test/integration/testserver"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// ruled is a CustomResourceDefinition with conversion rules. v1 has spec.address where v2 and v3
// have spec.addresses, and v3 has spec.timeout, such as 30s, where v1 and v2 have
// spec.timeoutSeconds. v1 and v3 convert by way of v2. A timeout that is not a duration cannot be
// converted.
const ruled = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: &subresources {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    selectableFields: [{jsonPath: .spec.address}]
    additionalPrinterColumns: [{name: Address, type: string, jsonPath: .spec.address}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              address: {type: string}
              replicas: {type: integer}
              timeoutSeconds: {type: integer}
          status: &status {type: object, properties: {replicas: {type: integer}}}
  - name: v2
    served: true
    storage: false
    subresources: *subresources
    selectableFields: [{jsonPath: .spec.timeoutSeconds}]
    additionalPrinterColumns: [{name: Addresses, type: string, jsonPath: .spec.addresses}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              addresses: &addresses {type: array, items: {type: string}}
              replicas: {type: integer}
              timeoutSeconds: {type: integer}
          status: *status
  - name: v3
    served: true
    storage: false
    subresources: *subresources
    selectableFields: [{jsonPath: .spec.timeout}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              addresses: *addresses
              replicas: {type: integer}
              timeout: {type: string}
          status: *status
  conversion:
    strategy: ConversionRules
    converters:
    - fromVersion: v1
      toVersion: v2
      rules: [{field: spec.addresses, rule: "has(self.spec) && has(self.spec.address) ? optional.of([self.spec.address]) : optional.none()"}]
    - fromVersion: v2
      toVersion: v1
      rules: [{field: spec.address, rule: "has(self.spec) && has(self.spec.addresses) && self.spec.addresses.size() > 0 ? optional.of(self.spec.addresses[0]) : optional.none()"}]
    - fromVersion: v2
      toVersion: v3
      rules: [{field: spec.timeout, rule: "has(self.spec) && has(self.spec.timeoutSeconds) ? optional.of(string(self.spec.timeoutSeconds) + 's') : optional.none()"}]
    - fromVersion: v3
      toVersion: v2
      rules: [{field: spec.timeoutSeconds, rule: "has(self.spec) && has(self.spec.timeout) ? optional.of(duration(self.spec.timeout).getSeconds()) : optional.none()"}]
`

// ruledVersions are the versions of the CustomResourceDefinition ruled.
var ruledVersions = []string{"v1", "v2", "v3"}

// defineRuled creates the CustomResourceDefinition ruled in a group of its own, with the given
// storage version, and deletes it at the end of the test. It returns the group.
func defineRuled(t *testing.T, clients testserver.Clients, storage string) string {
	t.Helper()
	group := uniqueGroup("ruled")
	crd := testserver.Parse[map[string]any](t, strings.ReplaceAll(ruled, "GROUP", group))
	store(crd, storage)
	testserver.Must(clients.Objects.Resource(crds).Create(t.Context(), &unstructured.Unstructured{Object: crd}, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		testserver.ExpectDeleted(t, clients.Objects.Resource(crds).Delete(context.Background(), plural+"."+group, metav1.DeleteOptions{}))
	})
	if err := established(t.Context(), plural+"."+group); err != nil {
		t.Fatal(err)
	}
	return group
}

// store makes a version of a CustomResourceDefinition the storage version.
func store(crd map[string]any, storage string) {
	versions, _, _ := unstructured.NestedSlice(crd, "spec", "versions")
	for _, version := range versions {
		version := version.(map[string]any)
		version["storage"] = version["name"] == storage
	}
	_ = unstructured.SetNestedSlice(crd, versions, "spec", "versions")
}

// changeRuled updates the CustomResourceDefinition of a group, whose fields Kubernetes' client
// would drop.
func changeRuled(t *testing.T, clients testserver.Clients, group string, change func(crd map[string]any)) {
	t.Helper()
	testserver.Eventually(t, func(ctx context.Context) error {
		crd, err := clients.Objects.Resource(crds).Get(ctx, plural+"."+group, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(crd.Object)
		_, err = clients.Objects.Resource(crds).Update(ctx, crd, metav1.UpdateOptions{})
		return err
	})
}

// ruledWidget returns a widget of 30 seconds in a version of the CustomResourceDefinition ruled.
func ruledWidget(group, version, name string) *unstructured.Unstructured {
	w := widget(group, version, name)
	w.Object["spec"] = ruledSpec(version, "a", 30)
	return w
}

// ruledSpec returns the spec of a widget in a version.
func ruledSpec(version, address string, seconds int64) map[string]any {
	spec := map[string]any{"addresses": []any{address}, "timeoutSeconds": seconds, "replicas": int64(2)}
	if version == "v1" {
		delete(spec, "addresses")
		spec["address"] = address
	}
	if version == "v3" {
		delete(spec, "timeoutSeconds")
		spec["timeout"] = fmt.Sprintf("%ds", seconds)
	}
	return spec
}

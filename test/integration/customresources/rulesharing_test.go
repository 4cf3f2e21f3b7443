// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/celador/test/integration/testserver"
)

// shared is a CustomResourceDefinition whose rules share a table and a variable and read root and
// index. v2 has other sizes than v1, and ports with names that v1 has none for.
const shared = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  conversion:
    strategy: ConversionRules
    tables:
    - name: sizes
      map: {small: S, large: L}
    converters:
    - fromVersion: v1
      toVersion: v2
      variables:
      - {name: size, expression: "self.?spec.?size"}
      - {name: prefix, expression: "variables.size.orValue('any') + '-'"}
      rules:
      - {field: spec.size, rule: "variables.size.optMap(s, tables.sizes[s])"}
      - {scope: "spec.ports[*]", field: name, rule: "variables.prefix + root.?metadata.?name.orValue('') + '-' + string(index)"}
    - fromVersion: v2
      toVersion: v1
      rules:
      - {field: spec.size, rule: "self.?spec.?size.optMap(s, inverted.sizes[s])"}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: string, enum: [small, large]}
              ports: {type: array, maxItems: 10, items: {type: object, properties: {number: {type: integer}}}}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: string, enum: [S, L]}
              ports: {type: array, maxItems: 10, items: {type: object, properties: {number: {type: integer}, name: {type: string}}}}
`

// Objects that are created, updated and applied in one version are converted with the table, in
// both directions.
func TestSharedValuesOfRules(t *testing.T) {
	group := uniqueGroup("shared")
	crd := testserver.Parse[map[string]any](t, strings.ReplaceAll(shared, "GROUP", group))
	testserver.Must(admin.Objects.Resource(crds).Create(t.Context(), &unstructured.Unstructured{Object: crd}, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		testserver.ExpectDeleted(t, admin.Objects.Resource(crds).Delete(context.Background(), plural+"."+group, metav1.DeleteOptions{}))
	})
	if err := established(t.Context(), plural+"."+group); err != nil {
		t.Fatal(err)
	}
	stored := testserver.Must(admin.Objects.Resource(crds).Get(t.Context(), plural+"."+group, metav1.GetOptions{}))(t)
	if diff := cmp.Diff(crd["spec"].(map[string]any)["conversion"], stored.Object["spec"].(map[string]any)["conversion"]); diff != "" {
		t.Errorf("conversion (-written +stored):\n%s", diff)
	}

	first := widget(group, "v1", "first")
	first.Object["spec"] = map[string]any{"size": "small", "ports": []any{map[string]any{"number": int64(80)}, map[string]any{"number": int64(443)}}}
	testserver.Must(in(admin, group, "v1").Create(t.Context(), first, metav1.CreateOptions{}))(t)
	got := testserver.Must(in(admin, group, "v2").Get(t.Context(), "first", metav1.GetOptions{}))(t)
	expectSpec(t, "get", got, group, "v2", map[string]any{"size": "S", "ports": []any{
		map[string]any{"number": int64(80), "name": "small-first-0"}, map[string]any{"number": int64(443), "name": "small-first-1"},
	}})
	second := widget(group, "v2", "second")
	second.Object["spec"] = map[string]any{"size": "L"}
	testserver.Must(in(admin, group, "v2").Apply(t.Context(), "second", second, metav1.ApplyOptions{FieldManager: "author"}))(t)
	second = widget(group, "v1", "second")
	second.Object["spec"] = map[string]any{"size": "large", "ports": []any{map[string]any{"number": int64(1)}}}
	applied := testserver.Must(in(admin, group, "v1").Apply(t.Context(), "second", second, metav1.ApplyOptions{FieldManager: "author"}))(t)
	expectSpec(t, "apply", applied, group, "v1", second.Object["spec"].(map[string]any))
	got = testserver.Must(in(admin, group, "v2").Get(t.Context(), "second", metav1.GetOptions{}))(t)
	expectSpec(t, "get", got, group, "v2", map[string]any{"size": "L", "ports": []any{map[string]any{"number": int64(1), "name": "large-second-0"}}})
}

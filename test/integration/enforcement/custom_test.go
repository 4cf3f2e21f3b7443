// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package enforcement

import (
	"cmp"
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/celador/test/integration/testserver"
)

// Policies apply to custom resources, also in equivalent versions.
func TestCustomResources(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("widgets") + ".example.com"
	define(t, group)
	for name, tc := range map[string]struct {
		versions, requested, matchPolicy string
		size                             int64
		text                             string
	}{
		"small":                    {versions: "[v1]", requested: "v1", size: 3},
		"big":                      {versions: "[v1]", requested: "v1", size: 4, text: "4 in " + group + "/v1"},
		"small in another version": {versions: "[v1]", requested: "v2", size: 3},
		"big in another version":   {versions: "[v1]", requested: "v2", size: 4, text: "4 in " + group + "/v1"},
		"big in any version":       {versions: `["*"]`, requested: "v2", size: 4, text: "4 in " + group + "/v2"},
		"big in exactly v2":        {versions: "[v2]", requested: "v2", matchPolicy: "Exact", size: 4, text: "4 in " + group + "/v2"},
		"big in exactly another":   {versions: "[v1]", requested: "v2", matchPolicy: "Exact", size: 4},
	} {
		t.Run(name, func(t *testing.T) {
			ns := admin.Namespace(t, nil)
			by := enforce(t, ns, `
matchConstraints:
  matchPolicy: `+cmp.Or(tc.matchPolicy, "Equivalent")+`
  resourceRules: [{apiGroups: [`+group+`], apiVersions: `+tc.versions+`, operations: [CREATE], resources: [widgets]}]
validations:
- expression: object.spec.size <= 3
  messageExpression: string(object.spec.size) + ' in ' + object.apiVersion`)
			err := newWidget(t.Context(), t, ns, group, tc.requested, tc.size)
			if tc.text == "" {
				testserver.ExpectAdmitted(t, err)
				return
			}
			by.expectInvalid(t, err, tc.text)
		})
	}
}

// define defines widgets of the group in v1 and v2, and waits until they are served.
func define(t *testing.T, group string) {
	t.Helper()
	const schemaOfVersions = `{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}`
	admin.Define(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.`+group+`}
spec:
  group: `+group+`
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: `+schemaOfVersions+`}
  - {name: v2, served: true, storage: false, schema: `+schemaOfVersions+`}
`)
	for _, version := range []string{"v1", "v2"} {
		testserver.Eventually(t, func(ctx context.Context) error { return newWidget(ctx, t, "default", group, version, 0) })
	}
}

func newWidget(ctx context.Context, t *testing.T, namespace, group, version string, size int64) error {
	t.Helper()
	_, err := objects.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: "widgets"}).Namespace(namespace).
		Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": group + "/" + version,
			"kind":       "Widget",
			"metadata":   map[string]any{"name": testserver.UniqueName("widget")},
			"spec":       map[string]any{"size": size},
		}}, metav1.CreateOptions{})
	return err
}

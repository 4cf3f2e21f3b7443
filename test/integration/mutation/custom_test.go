// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"celador.io/celador/test/integration/testserver"
)

// Custom resources are merged by the schema of their definition, get their defaults after each
// mutation, and are validated.
func TestCustomResources(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("boxes") + ".example.com"
	define(t, group)
	const whole = `{colour: red, ports: [{name: http, number: 80, protocol: TCP}], marks: [a]}`
	for name, tc := range map[string]struct {
		mutations, want, err string
	}{
		"apply a field":       {mutations: mutations(apply(`Object{spec: Object.spec{colour: "blue"}}`)), want: `{colour: blue, ports: [{name: http, number: 80, protocol: TCP}], marks: [a]}`},
		"list with keys":      {mutations: mutations(apply(`Object{spec: Object.spec{ports: [Object.spec.ports{name: "http", number: 8080}, Object.spec.ports{name: "https"}]}}`)), want: `{colour: red, ports: [{name: http, number: 8080, protocol: TCP}, {name: https, protocol: TCP}], marks: [a]}`},
		"set":                 {mutations: mutations(apply(`Object{spec: Object.spec{marks: ["b", "a"]}}`)), want: `{colour: red, ports: [{name: http, number: 80, protocol: TCP}], marks: [b, a]}`},
		"patch":               {mutations: mutations(jsonPatch(`[JSONPatch{op: "remove", path: "/spec/ports/0"}, JSONPatch{op: "add", path: "/spec/ports/-", value: Object.spec.ports{name: "new"}}]`)), want: `{colour: red, ports: [{name: new, protocol: TCP}], marks: [a]}`},
		"defaults in between": {mutations: mutations(jsonPatch(`[JSONPatch{op: "remove", path: "/spec/colour"}]`), jsonPatch(`[JSONPatch{op: "add", path: "/spec/marks/-", value: object.spec.colour}]`)), want: `{colour: green, ports: [{name: http, number: 80, protocol: TCP}], marks: [a, green]}`},
		"atomic list":         {mutations: mutations(apply(`Object{spec: Object.spec{steps: ["one"]}}`)), err: "may not mutate atomic arrays, maps or structs: .spec.steps"},
		"invalid":             {mutations: mutations(apply(`Object{spec: Object.spec{ports: [Object.spec.ports{name: "http", number: 0}]}}`)), err: "spec.ports[0].number: Invalid value: 0: spec.ports[0].number in body should be greater than or equal to 1"},
		"unknown field":       {mutations: mutations(apply(`Object{spec: Object.spec{weight: 5}}`)), err: "field not declared in schema"},
		"name":                {mutations: mutations(jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/name", value: "b"}]`)), err: `may not change metadata.name from "box" to "b"`},
		"kind":                {mutations: mutations(jsonPatch(`[JSONPatch{op: "replace", path: "/kind", value: "Crate"}]`)), err: `may not change apiVersion and kind from ` + group + `/v1, Kind=Box to ` + group + `/v1, Kind=Crate`},
	} {
		t.Run(name, func(t *testing.T) {
			ns := namespace(t)
			enforce(t, ns, on("CREATE", group, "boxes")+tc.mutations)
			got, err := newBox(t.Context(), t, group, ns, whole)
			if tc.err != "" {
				expectError(t, err, tc.err, metav1.StatusReasonInvalid)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// Encoding as YAML turns the numbers of the response into integers.
			sent := testserver.Must(yaml.Marshal(got.Object["spec"]))(t)
			expectEqual(t, "spec", testserver.Parse[map[string]any](t, tc.want), testserver.Parse[map[string]any](t, string(sent)))
		})
	}
}

// Policies apply to the first write of a custom resource that the server accepts, also if its
// group version was served before the kind.
func TestNewCustomResources(t *testing.T) {
	t.Parallel()
	group, ns := testserver.UniqueName("new")+".example.com", namespace(t)
	for _, kind := range []string{"Box", "Crate"} {
		enforce(t, ns, on("CREATE", group, pluralOf(kind))+mutations(apply(`Object{spec: Object.spec{colour: "blue"}}`)))
		defineKind(t, group, kind)
		var got *unstructured.Unstructured
		testserver.Eventually(t, func(ctx context.Context) error {
			created, err := newObject(ctx, t, group, kind, ns, `{colour: red}`)
			if apierrors.IsNotFound(err) {
				return err
			}
			got = testserver.Must(created, err)(t)
			return nil
		})
		if colour, _, _ := unstructured.NestedString(got.Object, "spec", "colour"); colour != "blue" {
			t.Errorf("%s: colour is %q, want blue", kind, colour)
		}
	}
}

// define defines boxes of the group and waits until they are served.
func define(t *testing.T, group string) {
	t.Helper()
	defineKind(t, group, "Box")
	ns := namespace(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		_, err := newBox(ctx, t, group, ns, `{}`)
		return err
	})
}

// defineKind defines a kind of the group in v1.
func defineKind(t *testing.T, group, kind string) {
	t.Helper()
	admin.Define(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: `+pluralOf(kind)+`.`+group+`}
spec:
  group: `+group+`
  names: {kind: `+kind+`, plural: `+pluralOf(kind)+`}
  scope: Namespaced
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
              colour: {type: string, default: green}
              steps: {type: array, items: {type: string}, x-kubernetes-list-type: atomic}
              marks: {type: array, items: {type: string}, x-kubernetes-list-type: set}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    number: {type: integer, minimum: 1}
                    protocol: {type: string, default: TCP}
`)
}

func pluralOf(kind string) string {
	return map[string]string{"Box": "boxes", "Crate": "crates"}[kind]
}

// newBox creates a box with a spec in YAML in a dry run.
func newBox(ctx context.Context, t *testing.T, group, namespace, spec string) (*unstructured.Unstructured, error) {
	t.Helper()
	return newObject(ctx, t, group, "Box", namespace, spec)
}

func newObject(ctx context.Context, t *testing.T, group, kind, namespace, spec string) (*unstructured.Unstructured, error) {
	t.Helper()
	sent := &unstructured.Unstructured{Object: testserver.Parse[map[string]any](t, "spec: "+spec)}
	sent.SetAPIVersion(group + "/v1")
	sent.SetKind(kind)
	sent.SetName(strings.ToLower(kind))
	return objects.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: pluralOf(kind)}).Namespace(namespace).Create(ctx, sent, dry)
}

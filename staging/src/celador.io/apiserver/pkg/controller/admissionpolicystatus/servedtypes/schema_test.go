// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
)

// Schemas have types, list map keys and the fields that all resources have, and nothing else.
func TestSchemas(t *testing.T) {
	const (
		name     = "{type: string}"
		metadata = "{description: metadata of all}"
		resource = "apiVersion: " + name + ", kind: " + name + ", metadata: " + metadata
	)
	for name, tc := range map[string]struct{ from, want string }{
		"nothing":  {"{type: object}", "{type: object, properties: {" + resource + "}}"},
		"text":     {"{type: object, description: d, title: t, required: [a], maxProperties: 3, properties: {a: {type: string, pattern: x, enum: [x], default: x}}}", "{type: object, properties: {a: {type: string}, " + resource + "}}"},
		"metadata": {"{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}", "{type: object, properties: {" + resource + "}}"},
		"own kind": {"{type: object, properties: {kind: {type: integer}}}", "{type: object, properties: {" + resource + "}}"},
		"scalars":  {"{type: object, properties: {a: {type: integer, format: int64}, b: {type: boolean, nullable: true}}}", "{type: object, properties: {a: {type: integer, format: int64}, b: {type: boolean, nullable: true}, " + resource + "}}"},
		"lists":    {"{type: object, properties: {a: {type: array, items: {type: object, properties: {b: {type: number}}}}}}", "{type: object, properties: {a: {type: array, items: {type: object, properties: {b: {type: number}}}}, " + resource + "}}"},
		"keyed list": {
			"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object, properties: {b: {type: string}}}}}}",
			"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object, properties: {b: {type: string}}}}, " + resource + "}}",
		},
		"set":         {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}", "{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: string}}, " + resource + "}}"},
		"maps":        {"{type: object, properties: {a: {type: object, additionalProperties: {type: array, items: {type: string}}}}}", "{type: object, properties: {a: {type: object, additionalProperties: {type: array, items: {type: string}}}, " + resource + "}}"},
		"open map":    {"{type: object, properties: {a: {type: object, additionalProperties: true}}}", "{type: object, properties: {a: {type: object, additionalProperties: true}, " + resource + "}}"},
		"int or text": {"{type: object, properties: {a: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}}}", "{type: object, properties: {a: {x-kubernetes-int-or-string: true}, " + resource + "}}"},
		"unknown":     {"{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {" + resource + "}}"},
		"embedded": {
			"{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, properties: {b: {type: string}}}}}",
			"{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, properties: {b: {type: string}, " + resource + "}}, " + resource + "}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectSchema(t, strings.Replace(widgets, "{type: object, properties: {size: {type: integer}}}", tc.from, 1), tc.want)
		})
	}
}

// Fields without a schema and fields that are not pruned are dynamic.
func TestSchemasOfAnything(t *testing.T) {
	const anything = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	expectSchema(t, strings.Replace(widgets, "  group:", "  preserveUnknownFields: true\n  group:", 1), anything)
	expectSchema(t, strings.Replace(widgets, ", schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}", "", 1), anything)
}

// expectSchema expects the schema of a CustomResourceDefinition, and the same after CompactCRD.
func expectSchema(t *testing.T, definition, want string) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(definition), &crd); err != nil {
		t.Fatal(err)
	}
	compact, err := servedtypes.CompactCRD(&crd)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(compact)
	if err != nil {
		t.Fatal(err)
	}
	expectSchemaOf(t, definition, want)
	expectSchemaOf(t, string(text), want)
}

func expectSchemaOf(t *testing.T, definition, want string) {
	t.Helper()
	types, _, _ := source(t, definition)
	found, err := types.TypeFinder(t.Context()).ResolveSchema(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted any
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

func TestDescribe(t *testing.T) {
	const schema = `
type: object
x-kubernetes-default:
- {field: spec.name, rule: self.metadata.name}
- {field: missing, rule: "1"}
- {field: "spec[", rule: "1"}
properties:
  spec:
    type: object
    properties:
      name: {type: string, description: "The name.\n"}
      size:
        type: integer
        x-kubernetes-default: [{rule: size(self.name)}]
      list:
        type: array
        items:
          type: object
          x-kubernetes-default: [{field: a, rule: self.b}, {field: a, rule: "'x'"}]
          properties:
            a: {type: string}
            b: {type: string}
      map:
        type: object
        additionalProperties:
          type: object
          x-kubernetes-default: [{field: a, rule: "'x'"}]
          properties:
            a: {type: string}
`
	_, defaults := parse(t, schema)
	var described apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(schema), &described); err != nil {
		t.Fatal(err)
	}
	defaulting.Describe(&described, defaults)
	spec := described.Properties["spec"].Properties
	got := map[string]string{
		"name":   spec["name"].Description,
		"size":   spec["size"].Description,
		"list.a": spec["list"].Items.Schema.Properties["a"].Description,
		"map.a":  spec["map"].AdditionalProperties.Schema.Properties["a"].Description,
		"others": described.Description + described.Properties["spec"].Description + spec["list"].Items.Schema.Properties["b"].Description,
	}
	want := map[string]string{
		"name": "The name.\n\nIf unset, defaults to the result of the CEL expression `self.metadata.name`, where self is the object.",
		"size": "If unset, defaults to the result of the CEL expression `size(self.name)`, where self is spec.",
		"list.a": "If unset, defaults to the result of the CEL expression `self.b`, where self is spec.list[*].\n\n" +
			"If unset, defaults to the result of the CEL expression `'x'`, where self is spec.list[*].",
		"map.a":  "If unset, defaults to the result of the CEL expression `'x'`, where self is spec.map[*].",
		"others": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("descriptions differ (-want +got):\n%s", diff)
	}
}

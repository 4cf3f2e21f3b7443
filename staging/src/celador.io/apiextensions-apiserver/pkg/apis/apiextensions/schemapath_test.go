// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiextensions_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

func TestSchemaPath(t *testing.T) {
	tests := []struct {
		name    string
		tokens  []string
		pointer apiextensions.SchemaPath
		field   string
	}{
		{"root", nil, "", "root"},
		{"property", []string{"properties", "spec"}, "/properties/spec", "root.properties[spec]"},
		{"separators in a name", []string{"properties", "a/b~1"}, "/properties/a~1b~01", "root.properties[a/b~1]"},
		{"empty name", []string{"properties", "", "not"}, "/properties//not", "root.properties[].not"},
		{"empty name at the end", []string{"not", "properties", ""}, "/not/properties/", "root.not.properties[]"},
		{"names like keywords", []string{"properties", "properties", "properties", "items"}, "/properties/properties/properties/items", "root.properties[properties].properties[items]"},
		{"items", []string{"items", "items", "3", "additionalItems"}, "/items/items/3/additionalItems", "root.items.items[3].additionalItems"},
		{"property named as a number", []string{"items", "properties", "0"}, "/items/properties/0", "root.items.properties[0]"},
		{"branches", []string{"allOf", "0", "anyOf", "1", "oneOf", "2", "not"}, "/allOf/0/anyOf/1/oneOf/2/not", "root.allOf[0].anyOf[1].oneOf[2].not"},
		{"maps", []string{"additionalProperties", "patternProperties", "^a", "definitions", "b", "dependencies", "c"},
			"/additionalProperties/patternProperties/^a/definitions/b/dependencies/c", "root.additionalProperties.patternProperties[^a].definitions[b].dependencies[c]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := apiextensions.NewSchemaPath(test.tokens...)
			if path != test.pointer {
				t.Errorf("got pointer %q, want %q", path, test.pointer)
			}
			if got := path.Field(field.NewPath("root")).String(); got != test.field {
				t.Errorf("got field %q, want %q", got, test.field)
			}
		})
	}
}

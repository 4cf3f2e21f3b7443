// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresource

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestLocate checks the fields of all errors of Kubernetes' validation by a schema that it reports
// for the object as a whole.
func TestLocate(t *testing.T) {
	one, limit := int64(1), 0.5
	roots := map[string]*field.Path{"": nil, "status.": field.NewPath("status")}
	wrong := []apiextensions.JSONSchemaProps{{MaxLength: &one}, {Enum: []apiextensions.JSON{"b"}}}
	for name, leaf := range map[string]struct {
		schema apiextensions.JSONSchemaProps
		value  any
	}{
		"int32":      {apiextensions.JSONSchemaProps{Type: "integer", Format: "int32"}, int64(math.MaxInt64)},
		"int64":      {apiextensions.JSONSchemaProps{Type: "integer", Format: "int64"}, 1e30},
		"integer":    {apiextensions.JSONSchemaProps{Type: "integer"}, 1e30},
		"float":      {apiextensions.JSONSchemaProps{Type: "number", Format: "float"}, math.MaxFloat64},
		"multipleOf": {apiextensions.JSONSchemaProps{Type: "integer", MultipleOf: &limit}, int64(3)},
		"maximum":    {apiextensions.JSONSchemaProps{Type: "integer", Maximum: &limit}, int64(3)},
		"not":        {apiextensions.JSONSchemaProps{Type: "string", Not: &apiextensions.JSONSchemaProps{MinLength: &one}}, "aa"},
		"anyOf":      {apiextensions.JSONSchemaProps{Type: "string", AnyOf: wrong}, "aa"},
		"oneOf":      {apiextensions.JSONSchemaProps{Type: "string", OneOf: wrong}, "aa"},
		"oneOf, all": {apiextensions.JSONSchemaProps{Type: "string", OneOf: wrong}, "b"},
		"allOf":      {apiextensions.JSONSchemaProps{Type: "string", AllOf: wrong}, "aa"},
		"date-time":  {apiextensions.JSONSchemaProps{Type: "string", Format: "date-time"}, "aa"},
	} {
		for _, key := range []string{"a", `a "b" in c`, "a\nb", "ä.b[0]"} {
			for path, in := range map[string]struct {
				schema apiextensions.JSONSchemaProps
				value  any
			}{
				key:                  {object(key, leaf.schema), map[string]any{key: leaf.value}},
				"spec." + key:        {object("spec", object(key, leaf.schema)), map[string]any{"spec": map[string]any{key: leaf.value}}},
				"list[1]." + key:     {object("list", list(object(key, leaf.schema))), map[string]any{"list": []any{map[string]any{}, map[string]any{key: leaf.value}}}},
				"entries.x." + key:   {object("entries", entries(object(key, leaf.schema))), map[string]any{"entries": map[string]any{"x": map[string]any{key: leaf.value}}}},
				"entries." + key:     {object("entries", entries(leaf.schema)), map[string]any{"entries": map[string]any{key: leaf.value}}},
				"lists[0][0]." + key: {object("lists", list(list(object(key, leaf.schema)))), map[string]any{"lists": []any{[]any{map[string]any{key: leaf.value}}}}},
			} {
				validator, _, err := validation.NewSchemaValidator(&in.schema)
				if err != nil {
					t.Fatal(err)
				}
				for root, base := range roots {
					errs := locate(validation.ValidateCustomResource(base, in.value, validator))
					if len(errs) == 0 {
						t.Errorf("%s at %q is valid", name, path)
					}
					if i := slices.IndexFunc(errs, func(err *field.Error) bool { return err.Field != root+path }); i >= 0 {
						t.Errorf("%s at %q: %v", name, root+path, errs[i])
					}
				}
			}
		}
	}
}

func object(property string, schema apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
	return apiextensions.JSONSchemaProps{Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{property: schema}}
}

func list(schema apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
	return apiextensions.JSONSchemaProps{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &schema}}
}

func entries(schema apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
	return apiextensions.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensions.JSONSchemaPropsOrBool{Allows: true, Schema: &schema}}
}

// Errors about the object as a whole, and messages of other origin, keep their path.
func TestLocateOthers(t *testing.T) {
	for _, err := range []*field.Error{
		field.Invalid(nil, "", `"" must validate one and only one schema (oneOf). Found none valid`),
		field.Invalid(nil, "object", `failed rule: "spec" must validate at least one schema (anyOf)`),
		field.Invalid(nil, "", `"spec" is odd`),
		field.Invalid(field.NewPath("spec"), "", "Checked value must be of type integer with format int32 in spec.a"),
		field.Required(nil, `"spec" must not validate the schema (not)`),
	} {
		before := *err
		if got := locate(field.ErrorList{err})[0]; fmt.Sprint(*got) != fmt.Sprint(before) {
			t.Errorf("got %v, want %v", got, &before)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemas

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Schema extensions that affect types, or tell which items of two lists are the same.
const (
	listType              = "x-kubernetes-list-type"
	listMapKeys           = "x-kubernetes-list-map-keys"
	preserveUnknownFields = "x-kubernetes-preserve-unknown-fields"
	embeddedResource      = "x-kubernetes-embedded-resource"
	intOrString           = "x-kubernetes-int-or-string"
)

// ForTypeChecks returns the schema of a version of custom resources for type checks and scopes of
// policies: types and list map keys, without descriptions and validation rules. objectMeta is the schema of metadata, nil
// if unknown.
func ForTypeChecks(crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion, objectMeta *spec.Schema) *spec.Schema {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil || crd.Spec.PreserveUnknownFields {
		// With spec.preserveUnknownFields, the server prunes nothing, so objects may have fields
		// that the schema does not specify.
		return &spec.Schema{
			SchemaProps:      spec.SchemaProps{Type: spec.StringOrArray{"object"}},
			VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{preserveUnknownFields: true}},
		}
	}
	types := typeSchema{objectMeta}
	converted := types.convert(version.Schema.OpenAPIV3Schema)
	types.addResourceFields(&converted)
	return &converted
}

type typeSchema struct{ objectMeta *spec.Schema }

func (c typeSchema) convert(from *apiextensionsv1.JSONSchemaProps) spec.Schema {
	to := spec.Schema{SchemaProps: spec.SchemaProps{Nullable: from.Nullable, Format: from.Format}}
	if from.Type != "" {
		to.Type = spec.StringOrArray{from.Type}
	}
	if len(from.Properties) > 0 {
		to.Properties = make(map[string]spec.Schema, len(from.Properties))
		for name, property := range from.Properties {
			to.Properties[name] = c.convert(&property)
		}
	}
	if from.Items != nil && from.Items.Schema != nil {
		items := c.convert(from.Items.Schema)
		to.Items = &spec.SchemaOrArray{Schema: &items}
	}
	if additional := from.AdditionalProperties; additional != nil {
		to.AdditionalProperties = &spec.SchemaOrBool{Allows: additional.Allows}
		if additional.Schema != nil {
			values := c.convert(additional.Schema)
			to.AdditionalProperties.Schema = &values
		}
	}
	if from.XListType != nil {
		to.AddExtension(listType, *from.XListType)
	}
	if len(from.XListMapKeys) > 0 {
		keys := make([]any, len(from.XListMapKeys)) // as in decoded documents
		for i, key := range from.XListMapKeys {
			keys[i] = key
		}
		to.AddExtension(listMapKeys, keys)
	}
	if from.XIntOrString {
		to.AddExtension(intOrString, true)
	}
	if from.XPreserveUnknownFields != nil && *from.XPreserveUnknownFields {
		to.AddExtension(preserveUnknownFields, true)
	}
	if from.XEmbeddedResource {
		to.AddExtension(embeddedResource, true)
		c.addResourceFields(&to)
	}
	return to
}

// addResourceFields adds the fields that all resources have. It replaces metadata, for which a
// CustomResourceDefinition can only specify restrictions.
func (c typeSchema) addResourceFields(s *spec.Schema) {
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	for _, name := range []string{"apiVersion", "kind"} {
		s.Properties[name] = spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}}
	}
	if c.objectMeta != nil {
		s.Properties["metadata"] = *c.objectMeta
	}
}

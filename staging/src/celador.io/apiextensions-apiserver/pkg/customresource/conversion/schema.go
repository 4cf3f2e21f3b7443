// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// sourceSchema returns the schema of the objects that rules read: that of the version, with the
// fields of metadata that rules see. Objects have no namespace if they are clusterScoped.
func sourceSchema(s *structuralschema.Structural, clusterScoped bool) *structuralschema.Structural {
	always := []string{"name", "namespace"}
	if clusterScoped {
		always = always[:1]
	}
	source := *s
	source.Type = "object"
	source.ValueValidation = withRequired(s.ValueValidation, "apiVersion", "kind", "metadata")
	source.Properties = make(map[string]structuralschema.Structural, len(s.Properties)+len(typeFields))
	maps.Copy(source.Properties, s.Properties)
	maps.Copy(source.Properties, map[string]structuralschema.Structural{
		"apiVersion": stringSchema(validation.DNS1123SubdomainMaxLength),
		"kind":       stringSchema(validation.DNS1035LabelMaxLength),
		"metadata": {
			Generic:         structuralschema.Generic{Type: "object"},
			ValueValidation: withRequired(nil, always...),
			Properties: map[string]structuralschema.Structural{
				"name":         stringSchema(validation.DNS1123SubdomainMaxLength),
				"generateName": stringSchema(validation.DNS1123SubdomainMaxLength),
				"namespace":    stringSchema(validation.DNS1123LabelMaxLength),
				"labels":       mapSchema(stringSchema(validation.LabelValueMaxLength)),
				// The API limits the bytes of all annotations together. Types count four bytes for
				// each code point of maxLength.
				"annotations": mapSchema(stringSchema(apivalidation.TotalAnnotationSizeLimitB / 4)),
			},
		},
	})
	return &source
}

// withRequired returns the validation with more required fields.
func withRequired(v *structuralschema.ValueValidation, names ...string) *structuralschema.ValueValidation {
	required := structuralschema.ValueValidation{}
	if v != nil {
		required = *v
	}
	required.Required = append(slices.Clone(required.Required), names...)
	return &required
}

// typeFields are the fields that identify the type of an object.
var typeFields = map[string]bool{"apiVersion": true, "kind": true}

func stringSchema(maxLength int) structuralschema.Structural {
	limit := int64(maxLength)
	return structuralschema.Structural{
		Generic:         structuralschema.Generic{Type: "string"},
		ValueValidation: &structuralschema.ValueValidation{MaxLength: &limit},
	}
}

func mapSchema(values structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{
		Generic:              structuralschema.Generic{Type: "object"},
		AdditionalProperties: &structuralschema.StructuralOrBool{Structural: &values},
	}
}

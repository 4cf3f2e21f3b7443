// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"fmt"
	"slices"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// collectExpressions returns the fields that Kubernetes does not have, or nil if there are none.
// The result shares the rules with the CustomResourceDefinition.
func collectExpressions(crd *v1.CustomResourceDefinition) *apiextensions.ExpressionFields {
	var collected apiextensions.ExpressionFields
	if conversion := crd.Spec.Conversion; conversion != nil {
		collected.ConversionRules = conversion.Strategy == v1.ConversionRules
		if len(conversion.Converters) > 0 {
			collected.Converters = conversion.Converters
		}
		if len(conversion.Tables) > 0 {
			collected.Tables = conversion.Tables
		}
	}
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Schema == nil {
			continue
		}
		defaults := apiextensions.SchemaDefaults{}
		reader := schemas{visit: func(tokens []string, schema *v1.JSONSchemaProps) bool {
			if len(schema.XDefault) > 0 {
				defaults[apiextensions.NewSchemaPath(tokens...)] = schema.XDefault
			}
			return false
		}}
		reader.walk(version.Schema.OpenAPIV3Schema)
		if len(defaults) == 0 {
			continue
		}
		if collected.Defaults == nil {
			collected.Defaults = map[string]apiextensions.SchemaDefaults{}
		}
		collected.Defaults[version.Name] = defaults
	}
	if collected.IsEmpty() {
		return nil
	}
	return &collected
}

// insertExpressions is the opposite of collectExpressions: it sets the fields in a
// CustomResourceDefinition. It writes to the schemas, which nothing else may refer to. It returns
// an error if there is no schema at the path of an expression.
func insertExpressions(expressions *apiextensions.ExpressionFields, crd *v1.CustomResourceDefinition) error {
	if expressions.HasConversion() {
		if crd.Spec.Conversion == nil {
			crd.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.NoneConverter}
		}
		if expressions.ConversionRules {
			crd.Spec.Conversion.Strategy = v1.ConversionRules
		}
		crd.Spec.Conversion.Converters, crd.Spec.Conversion.Tables = expressions.Converters, expressions.Tables
	}
	if !expressions.HasDefaults() {
		return nil
	}
	for name, defaults := range expressions.Defaults {
		i := slices.IndexFunc(crd.Spec.Versions, func(v v1.CustomResourceDefinitionVersion) bool { return v.Name == name })
		if i < 0 {
			return fmt.Errorf("x-kubernetes-default of version %q: spec.versions has no such version", name)
		}
		inserted := 0
		if schema := crd.Spec.Versions[i].Schema; schema != nil {
			writer := schemas{visit: func(tokens []string, schema *v1.JSONSchemaProps) bool {
				rules, found := defaults[apiextensions.NewSchemaPath(tokens...)]
				if found {
					schema.XDefault = rules
					inserted++
				}
				return found
			}}
			writer.walk(schema.OpenAPIV3Schema)
		}
		if inserted != len(defaults) {
			return fmt.Errorf("x-kubernetes-default of version %q: the version has schemas at %d of the %d paths", name, inserted, len(defaults))
		}
	}
	return nil
}

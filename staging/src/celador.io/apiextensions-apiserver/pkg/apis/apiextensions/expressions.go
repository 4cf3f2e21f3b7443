// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiextensions

import v1 "celador.io/api/apiextensions/v1"

// ExpressionFields holds the fields of a CustomResourceDefinition's spec that Kubernetes does not
// have: those with expressions, and the tables that expressions read.
type ExpressionFields struct {
	// Defaults holds x-kubernetes-default of all schemas, by the name of the version.
	Defaults map[string]SchemaDefaults

	// ConversionRules reports whether spec.conversion.strategy is ConversionRules.
	ConversionRules bool

	// Converters is spec.conversion.converters. Validation refuses it if ConversionRules is not
	// set.
	Converters []v1.Converter

	// Tables is spec.conversion.tables. Validation refuses it if ConversionRules is not set.
	Tables []v1.ConversionTable
}

// SchemaDefaults holds the default rules of one version: the values of x-kubernetes-default, by the
// path of the schema that has the field. No value is empty.
type SchemaDefaults map[SchemaPath][]v1.DefaultRule

// IsEmpty reports whether the CustomResourceDefinition has only fields of Kubernetes. A nil
// receiver is empty.
func (e *ExpressionFields) IsEmpty() bool {
	return e == nil || !e.HasDefaults() && !e.HasConversion()
}

// HasDefaults reports whether a schema has x-kubernetes-default. A nil receiver has none.
func (e *ExpressionFields) HasDefaults() bool {
	return e != nil && len(e.Defaults) > 0
}

// HasConversion reports whether the strategy is ConversionRules, or there are converters or tables.
// A nil receiver has none of them.
func (e *ExpressionFields) HasConversion() bool {
	return e != nil && (e.ConversionRules || len(e.Converters) > 0 || len(e.Tables) > 0)
}

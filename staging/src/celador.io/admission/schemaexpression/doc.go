// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schemaexpression compiles and evaluates the CEL expressions of OpenAPI schemas: validation rules, default
// expressions and conversion rules of custom resources. Such an expression reads 'self', a value whose type a schema
// declares, and in validation rules also 'oldSelf', the value before an update.
//
// The package knows neither CustomResourceDefinitions nor what a result is used for. Package expression is its
// counterpart for the expressions of policies.
package schemaexpression

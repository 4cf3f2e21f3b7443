// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package schemaexpression compiles and evaluates the CEL expressions of OpenAPI schemas:
// validation rules, default expressions and conversion rules of custom resources. Such an
// expression reads 'self', a value whose type a schema declares, and in validation rules also
// 'oldSelf', the value before an update.
//
// A Compiler returns the Environment of a Scope: the types of self and oldSelf, and the types of
// objects that expressions may construct. An Environment compiles an Expression, which has a type,
// an estimated cost and a Program. Servers keep programs and nothing else: a Program takes about a
// kilobyte, an Environment thirty. Equal expressions over equal types share their Program while it
// is in use, across versions and resources.
//
// A Schema describes how values are read, and Value returns the CEL value of an unstructured value.
// Programs that are evaluated with the same Activation share the parts of the values that were read
// before.
//
// Values, costs and errors are those of Kubernetes' validation rules. Closures evaluate an
// expression (package cel/internal/evaluator). They decline a few kinds of expressions, which that
// package lists, and evaluations that end with an error. cel-go then checks, plans and evaluates
// the expression, and the Program keeps cel-go's program. The differences from Kubernetes are:
//
//   - An expression whose types take too long to check is invalid (package cel/typesize).
//   - An evaluation ends with an error if it exceeds the limits of memory and of comparisons that
//     CEL costs do not bound (package cel/internal/limits).
//   - A few errors, such as for a list indexed by an object, name the Go type of a value. These
//     types are Celador's own.
//
// The package knows neither CustomResourceDefinitions nor what a result is used for. Package
// expression is its counterpart for the expressions of policies.
package schemaexpression

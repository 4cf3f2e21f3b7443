// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package programs checks, plans and evaluates CEL expressions, for the expressions of policies
// (package expression) and of schemas (package schemaexpression). A Program evaluates an expression
// with closures (package evaluator) and, where they decline, with cel-go, within the limits of
// package limits.
package programs

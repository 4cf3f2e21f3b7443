// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policyspec declares the anatomy of admission policies: the expressions of a
// policy, the fields that need a feature, and the predicates on its spec.
//
// API validation, the engines, type checking, the registry and the loader of manifest files
// iterate over these declarations. None of them has a list of expressions or of gated fields
// of its own.
package policyspec

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package expression compiles the CEL expressions of admission policies and evaluates them within a
// cost budget. It declares the variables that expressions may read, but does not know the API types
// of policies. API validation and the policy engine both use this package, so the engine can
// evaluate every expression that the API accepts.
package expression

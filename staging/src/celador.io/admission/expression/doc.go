// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package expression compiles the CEL expressions of admission policies and
// evaluates them within a cost budget. It knows the variables that policies may
// read and nothing of policies themselves; API validation and the policy engine
// both build on it, so what is accepted on write is what is run on requests.
package expression

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package intern shares equal values. Thousands of policies and bindings often contain the same
// selectors, rules and expressions.
package intern

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package intern keeps one of equal values, as thousands of policies and bindings say much the same.
package intern

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package live reads the objects of a running cluster page by page.
package live

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package examples holds the manifests and test suites of the examples.
package examples

import "embed"

// Files has a directory for each example.
//
//go:embed */*.yaml
var Files embed.FS

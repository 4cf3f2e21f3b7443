// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package suite loads and runs test suites of admission policies.
//
// A suite is a file of apiVersion test.celador.io/v1alpha1 and kind Suite. Find finds such files,
// Load reads them and the manifests that they name, and a Runner runs them.
package suite

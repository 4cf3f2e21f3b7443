// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package offline is the root of the packages that evaluate admission policies without a server.
// Package manifest reads files, package cluster answers requests as an API server with these
// manifests would, package suite runs test suites of policies, and package report prints their
// results.
package offline

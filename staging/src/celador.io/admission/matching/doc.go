// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matching decides whether a request meets the match resources of a policy, binding or
// webhook: resource rules, exclusions, and selectors for namespaces and objects.
package matching

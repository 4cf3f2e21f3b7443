// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package playground serves a page on which people try admission policies. The page sends the texts
// of its panes, and shows what an API server with these manifests would answer and how the
// expressions of the policies evaluate. Nothing is kept between requests.
package playground

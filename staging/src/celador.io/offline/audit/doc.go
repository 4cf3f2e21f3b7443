// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package audit finds the objects that validating admission policies would deny, among those that
// exist already.
package audit

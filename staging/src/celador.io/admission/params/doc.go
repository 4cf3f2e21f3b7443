// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package params finds the objects that configure a policy: those of its paramKind
// that the paramRef of a binding refers to (KEP-3488 "Policy Configuration").
package params

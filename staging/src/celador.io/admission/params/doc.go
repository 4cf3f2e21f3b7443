// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package params finds the params of a policy: the objects of its paramKind that the paramRef of a
// binding selects (KEP-3488, "Policy Configuration").
package params

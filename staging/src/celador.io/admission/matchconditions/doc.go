// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matchconditions decides by the match conditions of a policy or webhook whether
// a request concerns it (KEP-3488 and KEP-3716, "Match Conditions").
package matchconditions

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matchconditions evaluates the match conditions of policies and webhooks (KEP-3488 and
// KEP-3716, "Match Conditions").
package matchconditions

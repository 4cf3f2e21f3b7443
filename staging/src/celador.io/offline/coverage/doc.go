// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coverage measures which branches of CEL expressions tests reach, and explains the value
// of an expression by the values of its parts.
//
// A condition, such as a comparison, has a branch for each of its outcomes. See BranchOutcome
// for all branches.
package coverage

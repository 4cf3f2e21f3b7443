// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy is what policies of all kinds have in common: how they and their
// bindings are kept, compiled, and found for a request, with their params.
//
// What is particular to a kind is the body of a Policy, which that kind's own package
// compiles and evaluates.
package policy

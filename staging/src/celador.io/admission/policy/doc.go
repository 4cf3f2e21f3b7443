// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy stores compiled policies and their bindings, and finds those that match a request
// together with their params. It serves every kind of policy.
//
// Packages validating and mutating compile and evaluate the part that differs between kinds, the
// body of a Policy.
package policy

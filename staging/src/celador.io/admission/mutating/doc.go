// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutating is the engine of MutatingAdmissionPolicy (KEP-3775).
//
// A Store takes policies and bindings as they change and hands out Snapshots. An
// Engine changes the object of one request as the policies of a snapshot say, and
// returns what it did and what went wrong as data. Refusing, auditing and metrics are
// the host's.
package mutating

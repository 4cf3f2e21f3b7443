// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validating is the engine of ValidatingAdmissionPolicy (KEP-3488).
//
// A Store takes policies and bindings as they change and hands out Snapshots. An
// Engine evaluates one request against a snapshot and returns what it found as
// data. Denying, warning, auditing and metrics are the host's.
package validating

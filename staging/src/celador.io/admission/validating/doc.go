// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validating is the engine of ValidatingAdmissionPolicy (KEP-3488).
//
// A Store holds compiled policies and bindings, and provides immutable Snapshots of them. An Engine
// evaluates the policies of a snapshot for one request. It returns a Result that lists the
// decisions of the policies. Callers reject the request, send warnings, write audit events and
// count metrics.
package validating

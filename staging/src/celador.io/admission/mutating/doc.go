// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutating is the engine of MutatingAdmissionPolicy (KEP-3962).
//
// A Store holds compiled policies and bindings, and provides immutable Snapshots of them. An Engine
// applies the policies of a snapshot to the object of one request. It returns a Result that lists
// the applied mutations and the failures. Callers reject the request, write audit events and count
// metrics.
package mutating

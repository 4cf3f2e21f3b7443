// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package routing decides which webhook brings a request to which policies.
//
// A route is a set of policies that one webhook serves, because API servers would call the webhook
// of each of them alike: with the same selectors, the same failurePolicy, and the object in the
// same version. The route of a policy depends on nothing but the policy, so the leader, which
// writes the webhook configurations, and the replicas, which answer, need not agree on it.
//
// The package is pure: it has no client.
package routing

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package routing decides which webhook brings a request to which policies.
//
// A route is a set of policies that one webhook serves, because API servers would call the webhook
// of each of them alike: with the same selectors, the same failurePolicy, and the object in the
// same version. The leader decides which policies are on a route when it writes the webhook
// configurations, and records them there, by the URL paths of the webhooks. A path stands for the
// same policies for ever, so API servers and replicas that have seen different configurations agree
// on the policies of a request, and ask each policy exactly once.
//
// The package is pure: it has no client.
package routing

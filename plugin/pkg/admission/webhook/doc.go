// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook has what the plugins for validating and mutating webhooks share: their
// match conditions, which Celador's engine evaluates, and the call of one webhook.
//
// Configuration files, clients, selectors, rules and readiness are those of upstream's
// generic.Webhook, around which both plugins are built. The dispatchers are Celador's, as
// upstream's cannot be had without upstream's plugins.
package webhook

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook is the common part of the admission plugins that call validating and mutating
// webhooks.
//
// celador.io/admission/webhook decides which webhooks are called. The plugins connect it to the
// API server: they call webhooks over the network, apply failurePolicy, and record metrics and
// audit annotations. Configuration files, clients and readiness are those of upstream's
// generic.Webhook, which both plugins embed. Upstream does not export its dispatchers, so the
// plugins have their own.
package webhook

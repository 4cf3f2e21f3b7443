// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook decides which admission webhooks are called for a request, and applies their
// patches.
//
// Compile a webhook of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration once with
// [CompileValidating] or [CompileMutating], and all webhooks of a kind once into a [Set]. For each
// admission request, make a [Request], or a [MutatingRequest] if webhooks may change the object,
// and call [Request.Match] for its candidates. The package does not call webhooks: sending an
// AdmissionReview to the endpoint of a webhook is up to the caller.
package webhook

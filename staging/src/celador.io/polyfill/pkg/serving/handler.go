// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serving answers the admission reviews with which API servers ask webhooks.
package serving

import (
	"context"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/review"
)

// A Decider returns the response to a review.
type Decider func(ctx context.Context, request *review.Request) *admissionv1.AdmissionResponse

// Prepare returns the context in which a Decider decides about a review that was sent to a URL
// path, or an error while this replica cannot decide about it.
type Prepare func(ctx context.Context, path string) (context.Context, error)

// NewHandler returns a handler that answers reviews by a decider. webhook is the label of metrics.
// The answer has an error's status code if prepare returns an error, if the limits are exhausted,
// if the review is invalid, or if the time is over. In the first two cases, API servers repeat the
// call, perhaps to another replica, until the timeout of the webhook, and then apply its
// failurePolicy. A request counts for the limits only after prepare has returned, so that requests
// that wait in prepare do not keep others out. Safe for concurrent use.
func NewHandler(webhook string, limits *InFlightLimits, prepare Prepare, decide Decider) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		outcome := "failed"
		defer func() { observe(r.Context(), webhook, outcome, time.Since(begin)) }()
		ctx, cancel := withDeadline(r)
		defer cancel()
		ctx, err := prepare(ctx, r.URL.Path)
		if err != nil {
			unavailable := apierrors.NewServiceUnavailable(err.Error())
			unavailable.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfterSeconds}
			review.WriteError(w, unavailable)
			return
		}
		free, reason, rejection := limits.take(r)
		if rejection != nil {
			outcome = "rejected"
			reject(w, r, reason, rejection)
			return
		}
		defer free()
		review.Handler(func(ctx context.Context, request *review.Request) *admissionv1.AdmissionResponse {
			response := decide(ctx, request)
			if ctx.Err() != nil {
				return nil // policies that were interrupted have not decided
			}
			outcome = "denied"
			if response.Allowed {
				outcome = "allowed"
			}
			return response
		}).ServeHTTP(w, r.WithContext(ctx))
	})
}

// answerTime is the time between the end of a request's context and the timeout of the API server's
// call. In this time, the handler answers with an error that says why there is no decision, which
// the API server reports instead of its timeout.
const answerTime = 200 * time.Millisecond

// withDeadline returns the context of a request, which ends before the API server stops to wait for
// the answer. API servers put the time that they wait in the parameter timeout of the URL.
func withDeadline(r *http.Request) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return context.WithCancel(r.Context())
	}
	return context.WithTimeout(r.Context(), max(timeout-answerTime, timeout/2))
}

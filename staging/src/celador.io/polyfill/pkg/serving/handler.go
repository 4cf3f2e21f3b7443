// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serving answers the admission reviews with which API servers ask webhooks.
package serving

import (
	"context"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"celador.io/admission/review"
)

// A Decider returns the response to a review that was sent to a route.
type Decider func(ctx context.Context, route string, request *review.Request) *admissionv1.AdmissionResponse

// NewHandler returns a handler that answers reviews by a decider. The path's value "route" is the
// route, and webhook is the label of metrics. While ready returns an error, for an invalid review,
// and if time is over, the answer has an error's status code: the API server then applies the
// failurePolicy of the webhook. Safe for concurrent use.
func NewHandler(webhook string, ready func() error, decide Decider) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		outcome := "failed"
		defer func() { observe(r.Context(), webhook, outcome, time.Since(begin)) }()
		if err := ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		ctx, cancel := withDeadline(r)
		defer cancel()
		review.Handler(func(ctx context.Context, request *review.Request) *admissionv1.AdmissionResponse {
			response := decide(ctx, r.PathValue("route"), request)
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

// answerTime is what remains of the timeout of a call for the answer, so that the API server learns
// why there is none.
const answerTime = 200 * time.Millisecond

// withDeadline returns the context of a request, which ends before the API server stops to wait. It
// says for how long it waits in the parameter timeout of the address.
func withDeadline(r *http.Request) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return context.WithCancel(r.Context())
	}
	return context.WithTimeout(r.Context(), max(timeout-answerTime, timeout/2))
}

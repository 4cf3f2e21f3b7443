// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serving answers the admission reviews with which API servers ask webhooks.
package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/klog/v2"
)

// maxReview is the limit on the bytes of a review. An API server accepts objects of 3 MiB, and a
// review may hold an old object and options, too.
const maxReview = 16 << 20

// A Decider returns the response to the request of a review, or an error if the review is invalid.
type Decider func(context.Context, *admissionv1.AdmissionReview) (*admissionv1.AdmissionResponse, error)

// NewHandler returns a handler that answers reviews of version v1 by a decider, which may depend on
// the request's path. webhook is the label of metrics. While ready returns an error, and for an
// invalid review, the answer is a text with an error's status code: the API server then applies the
// failurePolicy of the webhook. Safe for concurrent use.
func NewHandler(webhook string, ready func() error, decider func(*http.Request) Decider) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		outcome := "failed"
		defer func() { observe(r.Context(), webhook, outcome, time.Since(begin)) }()

		if err := ready(); err != nil {
			refuse(w, r, http.StatusServiceUnavailable, err)
			return
		}
		review, code, err := read(w, r)
		if err != nil {
			refuse(w, r, code, err)
			return
		}
		ctx, cancel := withDeadline(r)
		defer cancel()
		response, err := decider(r)(ctx, review)
		if err != nil {
			refuse(w, r, http.StatusBadRequest, err)
			return
		}
		outcome = "denied"
		if response.Allowed {
			outcome = "allowed"
		}
		w.Header().Set("Content-Type", "application/json")
		// An error means that the client is gone.
		_ = json.NewEncoder(w).Encode(&admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: response})
	})
}

// read returns the review in the body of a request. With an error, it returns the status code of
// the answer.
func read(w http.ResponseWriter, r *http.Request) (_ *admissionv1.AdmissionReview, code int, err error) {
	if r.Method != http.MethodPost {
		return nil, http.StatusMethodNotAllowed, fmt.Errorf("method %s is not POST", r.Method)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the admission review has more than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("reading the admission review: %w", err)
	}
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(body, review); err != nil {
		return nil, http.StatusBadRequest, fmt.Errorf("decoding the admission review: %w", err)
	}
	return review, 0, nil
}

// answerTime is what remains of the timeout of a call for the answer, so that the API server gets
// the response of a policy that takes too long, in place of none.
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

// refuse answers a request without a review.
func refuse(w http.ResponseWriter, r *http.Request, code int, err error) {
	klog.FromContext(r.Context()).Error(err, "Cannot answer an admission review", "path", r.URL.Path, "code", code)
	http.Error(w, err.Error(), code)
}

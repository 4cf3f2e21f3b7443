// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	endpoints "k8s.io/apiserver/pkg/endpoints/request"
)

// MaxBytes bounds a review. API servers accept requests of up to 3 MiB, and a review has two
// objects and the options.
const MaxBytes = 8 << 20

// Handler returns a handler of the requests with which API servers call a webhook. It answers each
// AdmissionReview with the response that decide returns. It answers with an API status instead if
// it cannot: 400 or 413 for a body that FromReview does not accept, and 504 if decide returns nil.
// API servers show the message of the status, and apply the failurePolicy of the webhook.
//
// The context that decide gets has the time at which the request was received, which expressions
// read as request.time. It is the time of the call of the handler, unless the context of the HTTP
// request has one already.
func Handler(decide func(context.Context, *Request) *admissionv1.AdmissionResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if _, ok := endpoints.ReceivedTimestampFrom(ctx); !ok {
			ctx = endpoints.WithReceivedTimestamp(ctx, time.Now())
		}
		request, err := read(http.MaxBytesReader(w, r.Body, MaxBytes))
		if err != nil {
			WriteError(w, err)
			return
		}
		response := decide(ctx, request)
		if response == nil {
			WriteError(w, apierrors.NewTimeoutError("the webhook did not decide in time", 0))
			return
		}
		write(w, http.StatusOK, admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
			Response: response,
		})
	})
}

// read reads the request of a review.
func read(body io.Reader) (*Request, *apierrors.StatusError) {
	text, err := io.ReadAll(body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"the review of the object has more than %d bytes: make the object smaller, or exclude it by a namespaceSelector or an objectSelector", tooLarge.Limit))
	case err != nil:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("reading the review: %v", err))
	}
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(text, review); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the review cannot be decoded: %v", err))
	}
	request, err := FromReview(review)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return request, nil
}

// WriteError answers a call of a webhook with an API status. API servers show its message, and
// apply the failurePolicy. They first repeat the call if the status has RetryAfterSeconds and its
// code is 429, or 500 or more.
func WriteError(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	write(w, int(status.Code), status)
}

func write(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// An error means that the API server has gone.
	_ = json.NewEncoder(w).Encode(object)
}

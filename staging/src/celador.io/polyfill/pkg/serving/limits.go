// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"crypto/x509"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"

	"celador.io/admission/review"
)

// retryAfterSeconds is the time after which API servers repeat a rejected request, unless the
// timeout of the webhook ends first.
const retryAfterSeconds = 1

// The values of the metric's label reason.
const (
	tooMany         = "too_many_in_flight"
	tooManyBytes    = "too_many_bytes_in_flight"
	noLength        = "no_length"
	unauthenticated = "unauthenticated"
)

// InFlightLimits bound the reviews that are answered at a time, by their number and by the sum of
// their sizes. The zero value has no bounds. Safe for concurrent use.
type InFlightLimits struct {
	// Requests and Bytes are the bounds. Zero is none. Bytes must not be less than review.MaxBytes.
	Requests, Bytes int64

	lock            sync.Mutex
	requests, bytes int64 // that are answered now
}

// take counts a request, and returns a function with which the caller ends the count. If the
// request would exceed a bound, take does not count it, and returns the reason for metrics and the
// error to answer with. If Bytes is set, it also rejects requests without a length, as a caller
// that sends nothing would count as the largest review. API servers send the length.
func (l *InFlightLimits) take(r *http.Request) (free func(), reason string, err *apierrors.StatusError) {
	size := min(r.ContentLength, review.MaxBytes)
	l.lock.Lock()
	defer l.lock.Unlock()
	switch {
	case l.Bytes > 0 && size < 0:
		return nil, noLength, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusLengthRequired, Message: "the request has no Content-Length",
		}}
	case l.Requests > 0 && l.requests >= l.Requests:
		return nil, tooMany, apierrors.NewTooManyRequests("the webhook answers as many reviews as --max-requests-inflight allows", retryAfterSeconds)
	case l.Bytes > 0 && l.bytes+size > l.Bytes:
		return nil, tooManyBytes, apierrors.NewTooManyRequests("the reviews that the webhook answers have as many bytes as --max-bytes-inflight allows", retryAfterSeconds)
	}
	l.requests, l.bytes = l.requests+1, l.bytes+size
	return func() {
		l.lock.Lock()
		defer l.lock.Unlock()
		l.requests, l.bytes = l.requests-1, l.bytes-size
	}, "", nil
}

// WithClientCertificate returns a handler that passes requests to h whose client has a certificate
// of an authority, and answers others with status 401. The TLS configuration of the server must
// request certificates. Safe for concurrent use.
func WithClientCertificate(h http.Handler, authority x509request.VerifyOptionFunc) http.Handler {
	everybody := x509request.UserConversionFunc(func([]*x509.Certificate) (*authenticator.Response, bool, error) {
		return &authenticator.Response{}, true, nil
	})
	verifier := x509request.NewDynamic(authority, everybody)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok, err := verifier.AuthenticateRequest(r); !ok {
			reason := "the client has no certificate"
			if err != nil {
				reason = err.Error()
			}
			reject(w, r, unauthenticated, apierrors.NewUnauthorized(reason))
			return
		}
		h.ServeHTTP(w, r)
	})
}

func reject(w http.ResponseWriter, r *http.Request, reason string, err *apierrors.StatusError) {
	rejected.WithContext(r.Context()).WithLabelValues(reason).Inc()
	review.WriteError(w, err)
}

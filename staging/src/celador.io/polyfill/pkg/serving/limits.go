// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"crypto/x509"
	"net/http"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	unauthenticated = "unauthenticated"
)

// Limits bound the reviews that are answered at a time, by their number and by the sum of their
// sizes. The zero value has no bounds. Safe for concurrent use.
type Limits struct {
	// Requests and Bytes are the bounds. Zero is none. Bytes must not be less than review.MaxBytes.
	Requests, Bytes int64

	requests, bytes atomic.Int64
}

// take returns a function that gives back what the request takes, or how the request is rejected
// if there is no room for it. A request without a length counts as the largest review.
func (l *Limits) take(r *http.Request) (free func(), reason, message string) {
	size := r.ContentLength
	if size < 0 || size > review.MaxBytes {
		size = review.MaxBytes
	}
	requests, bytes := l.requests.Add(1), l.bytes.Add(size)
	free = func() { l.requests.Add(-1); l.bytes.Add(-size) }
	switch {
	case l.Requests > 0 && requests > l.Requests:
		free()
		return nil, tooMany, "the webhook answers as many reviews as --max-requests-inflight allows"
	case l.Bytes > 0 && bytes > l.Bytes:
		free()
		return nil, tooManyBytes, "the reviews that the webhook answers have as many bytes as --max-bytes-inflight allows"
	}
	return free, "", ""
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

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"crypto/x509"
	"net/http"

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
	unauthenticated = "unauthenticated"
)

// Slots bound how many reviews are answered at a time. Nil Slots have no bound. Safe for concurrent
// use.
type Slots chan struct{}

// NewSlots returns Slots for the given number of reviews, or without a bound for 0.
func NewSlots(number int) Slots {
	if number == 0 {
		return nil
	}
	return make(Slots, number)
}

// take reports whether there is a free slot, which it takes.
func (s Slots) take() bool {
	if s == nil {
		return true
	}
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// free frees a slot that take has taken.
func (s Slots) free() {
	if s != nil {
		<-s
	}
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

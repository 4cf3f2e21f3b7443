// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// Interrupted returns the timeout error (504) that ends a request whose context is done, and
// nil before that. done is the channel of the context.
//
// failurePolicy does not apply to this error. An interrupted expression fails like any other, so
// failurePolicy Ignore would admit the request although its policies were not evaluated.
func Interrupted(done <-chan struct{}) *apierrors.StatusError {
	// Unlike ctx.Err, this takes no lock.
	select {
	case <-done:
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	default:
		return nil
	}
}

// Interrupted returns the error that ends the request once its context is done, and nil before
// that. It takes no lock, so it may be called between any two evaluations.
func (r *Request) Interrupted() *apierrors.StatusError { return Interrupted(r.done) }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// Interrupted returns the error that ends a request whose context is done, or nil before
// that. done is the channel of the context.
//
// The error does not depend on failurePolicy. An expression that was interrupted fails like
// any other, so with failurePolicy Ignore the request would be admitted unexamined.
func Interrupted(done <-chan struct{}) *apierrors.StatusError {
	// Unlike ctx.Err, this takes no lock.
	select {
	case <-done:
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	default:
		return nil
	}
}

// Interrupted returns the error that ends the request once its context is done, or nil
// before that. It is cheap enough to be called between any two pieces of work.
func (r *Request) Interrupted() *apierrors.StatusError { return Interrupted(r.done) }

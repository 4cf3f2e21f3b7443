// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

type callerKey struct{}

// detach returns a context for handlers of the API that is not cancelled with ctx. Handlers answer
// when their context is cancelled, but leave behind a goroutine that goes on with the request.
// Without the cancellation they answer when the goroutine ends, or after the 34 seconds that they
// give every request.
func detach(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), callerKey{}, ctx)
}

// attach returns the context of a handler with the cancellation that detach took away, so that the
// evaluation of expressions ends. The caller calls release.
func attach(ctx context.Context) (attached context.Context, release func()) {
	caller, ok := ctx.Value(callerKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	attached, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	return attached, func() { stop(); cancel(nil) }
}

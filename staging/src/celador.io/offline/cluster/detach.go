// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

type callerKey struct{}

// detach returns a context for API handlers that is not cancelled with ctx. When its context is
// cancelled, a handler answers at once, and leaves behind a goroutine that still works on the
// request. Without the cancellation, it waits for this goroutine, for 34 seconds at most.
func detach(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), callerKey{}, ctx)
}

// attach returns a handler's context with the cancellation that detach has removed, so that the
// evaluation of expressions can be interrupted. The caller calls release.
func attach(ctx context.Context) (attached context.Context, release func()) {
	caller, ok := ctx.Value(callerKey{}).(context.Context)
	if !ok {
		return ctx, func() {}
	}
	attached, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	return attached, func() { stop(); cancel(nil) }
}

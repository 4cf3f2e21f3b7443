// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// maxStaleWait is how long a request waits for policies that are older than the limit. A stuck watch may take a minute to recover, and a request
// that fails soon can be repeated at another server.
const maxStaleWait = 2 * time.Second

// maxCheckInterval is the longest time between two checks.
const maxCheckInterval = time.Second

// freshness knows when the policies and bindings of a plugin were last known to be those in etcd. Safe for concurrent use.
type freshness struct {
	limit time.Duration
	// check returns nil if the plugin has seen everything that was stored before the call.
	check func(context.Context) error
	last  atomic.Pointer[freshMark]
}

// freshMark is a time at which the policies were those in etcd.
type freshMark struct {
	at time.Time
	// passed is closed when there is a later mark.
	passed chan struct{}
}

// newFreshness returns a freshness without marks later than now.
func newFreshness(limit time.Duration, check func(context.Context) error) *freshness {
	f := &freshness{limit: limit, check: check}
	f.last.Store(&freshMark{time.Now(), make(chan struct{})})
	return f
}

// run checks several times within the limit until ctx ends.
func (f *freshness) run(ctx context.Context) {
	failing := false
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		start := time.Now()
		checking, cancel := context.WithTimeout(ctx, f.limit)
		defer cancel()
		err := f.check(checking)
		switch {
		case err == nil:
			close(f.last.Swap(&freshMark{start, make(chan struct{})}).passed)
			if failing {
				klog.FromContext(ctx).Info("Policies are those in etcd again")
			}
		case errors.Is(err, errNotReady):
			return // the server is starting
		case !failing && ctx.Err() == nil:
			klog.FromContext(ctx).Info("Policies may be outdated, because the server does not hear from etcd", "limit", f.limit, "err", err)
		}
		failing = err != nil
	}, min(f.limit/5, maxCheckInterval))
}

// age returns how long ago the policies were those in etcd.
func (f *freshness) age() time.Duration { return time.Since(f.last.Load().at) }

// await returns nil once the policies are not older than the limit. It waits for that for a short time, and then returns a
// ServiceUnavailable error.
func (f *freshness) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxStaleWait)
	defer cancel()
	for {
		last := f.last.Load()
		if time.Since(last.at) <= f.limit {
			return nil
		}
		select {
		case <-last.passed:
		case <-ctx.Done():
			err := apierrors.NewServiceUnavailable(fmt.Sprintf("the admission policies that this server knows are %v old, because it has not heard from etcd, "+
				"and may be up to %v old: try again or use another server", f.age().Round(time.Second), f.limit))
			err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
			return err
		}
	}
}

// isStale reports whether the policies are older than the limit.
func (f *freshness) isStale() bool { return f.age() > f.limit }

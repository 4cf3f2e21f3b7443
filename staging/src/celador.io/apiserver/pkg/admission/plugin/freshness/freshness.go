// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package freshness bounds how much older the objects that an admission plugin knows may be than
// those that are stored.
package freshness

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

const (
	// maxStaleWait is how long a request waits if the plugin's objects are older than the limit. A
	// stuck watch may take a minute to recover, so the request fails soon, and the client can try
	// another server.
	maxStaleWait = 2 * time.Second
	// maxCheckInterval is the longest time between two checks.
	maxCheckInterval = time.Second
)

// ErrStarting is returned by a check while there is nothing to check yet. It is not logged.
var ErrStarting = errors.New("not yet ready to handle request")

// Freshness knows the last time at which the objects that a plugin knows were certainly equal to
// the stored ones. Safe for concurrent use.
type Freshness struct {
	objects string
	limit   time.Duration
	check   func(context.Context) error
	last    atomic.Pointer[mark]
}

// A mark is a time at which the plugin's objects were equal to the stored ones.
type mark struct {
	at time.Time
	// passed is closed when there is a later mark.
	passed chan struct{}
}

// New returns a Freshness of objects that are fresh now. objects is a plural noun phrase for
// errors, such as "admission policies". check returns nil if the plugin has seen everything that
// was stored before the call.
func New(objects string, limit time.Duration, check func(context.Context) error) *Freshness {
	f := &Freshness{objects: objects, limit: limit, check: check}
	f.last.Store(&mark{time.Now(), make(chan struct{})})
	return f
}

// Run calls the check several times within the limit, until ctx ends. It must be called once:
// without it, the objects count as outdated when the limit has passed.
func (f *Freshness) Run(ctx context.Context) {
	failing := false
	logger := klog.FromContext(ctx).WithValues("objects", f.objects)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		start := time.Now()
		checking, cancel := context.WithTimeout(ctx, f.limit)
		defer cancel()
		err := f.check(checking)
		switch {
		case err == nil:
			close(f.last.Swap(&mark{start, make(chan struct{})}).passed)
			if failing {
				logger.Info("Known objects are those in etcd again")
			}
		case errors.Is(err, ErrStarting):
			return
		case !failing && ctx.Err() == nil:
			logger.Info("Known objects may be outdated, because the server does not hear from etcd", "limit", f.limit, "err", err)
		}
		failing = err != nil
	}, min(f.limit/5, maxCheckInterval))
}

// Age returns the time since the plugin's objects were last known to be equal to the stored ones.
func (f *Freshness) Age() time.Duration { return time.Since(f.last.Load().at) }

// IsStale reports whether the objects may be older than the limit.
func (f *Freshness) IsStale() bool { return f.Age() > f.limit }

// Await returns nil if the objects are not older than the limit. Otherwise it waits until they are
// not, but for maxStaleWait at most: then it returns a ServiceUnavailable error, so that the client
// tries again, maybe with another server.
func (f *Freshness) Await(ctx context.Context) error {
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
			err := apierrors.NewServiceUnavailable(fmt.Sprintf("the %s that this server knows are %v old, because it has not heard from etcd, "+
				"and may be up to %v old: try again or use another server", f.objects, f.Age().Round(time.Second), f.limit))
			err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
			return err
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestFreshness(t *testing.T) {
	const limit = 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Pointer[chan struct{}] // until it is closed
		f := New("admission policies", limit, func(ctx context.Context) error {
			if until := stuck.Load(); until != nil {
				select {
				case <-*until:
				case <-ctx.Done():
					return errors.New("stuck")
				}
			}
			return nil
		})
		go f.Run(t.Context())
		<-time.After(time.Minute)
		if f.IsStale() {
			t.Errorf("stale after %v while etcd answers", f.Age())
		}

		until := make(chan struct{})
		stuck.Store(&until)
		<-time.After(limit + 2*time.Second)
		if !f.IsStale() {
			t.Errorf("not stale after %v", f.Age())
		}
		begin := time.Now()
		err := f.Await(t.Context())
		if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsServiceUnavailable(err) || !ok || seconds != 1 {
			t.Errorf("got error %v, want one that asks for a retry", err)
		}
		if waited := time.Since(begin); waited != maxStaleWait {
			t.Errorf("waited %v, want %v", waited, maxStaleWait)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := f.Await(ctx); err == nil || time.Since(begin) != maxStaleWait {
			t.Errorf("a request that ended got error %v after %v", err, time.Since(begin)-maxStaleWait)
		}

		// A check that fails at this time is followed by one that does not, after a fifth of the
		// limit.
		time.AfterFunc(maxStaleWait-limit/5-1, func() { close(until) })
		if err := f.Await(t.Context()); err != nil {
			t.Errorf("got error %v once etcd answers", err)
		}
	})
}

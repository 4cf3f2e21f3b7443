// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Requests do not wait for params that the server may not list, and work soon after it may, however
// long it has asked for them.
func TestForbiddenParams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "first"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		forbidden := apierrors.NewForbidden(limits.GroupResource(), "", errors.New("the user cannot list it"))
		s.set(func() { s.errs["list"], s.errs["watch"] = forbidden, forbidden })
		k := source.Open(limitKind)
		defer k.Close()
		eventually(t, 10*time.Second, "forbidden", func() bool { return strings.Contains(describe(t, k), forbidden.Error()) })
		if err := source.Synced(); err == nil || !strings.Contains(err.Error(), forbidden.Error()) {
			t.Errorf("got %v for params that may not be listed, want %q", err, forbidden)
		}
		const asks = 60
		before := s.count("list")
		for begin := time.Now(); time.Since(begin) < asks*time.Second; <-time.After(100 * time.Millisecond) {
			if got := describe(t, k); !strings.Contains(got, forbidden.Error()) {
				t.Fatalf("got %s after %v, want %q", got, time.Since(begin), forbidden)
			}
		}
		if lists := s.count("list") - before; lists > 3*asks {
			t.Errorf("the source lists %d times in %d seconds", lists, asks)
		}
		s.set(func() { clear(s.errs) })
		eventually(t, 2*time.Second, "permitted", func() bool { return describe(t, k) == "namespaced" })
		if err := source.Synced(); err != nil {
			t.Errorf("got %v for params that are listed", err)
		}
	})
}

// A list may take longer than the time after which a refused informer is replaced.
func TestSlowListOfPermittedParams(t *testing.T) {
	s, source := started(t, limit("blue", "first"))
	s.serve(limits.GroupVersion(), namespacedLimits)
	forbidden := apierrors.NewForbidden(limits.GroupResource(), "", errors.New("the user cannot list it"))
	s.set(func() { s.errs["list"], s.errs["watch"] = forbidden, forbidden })
	k := source.Open(limitKind)
	defer k.Close()
	await := func(what string, done func() bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) { return done(), nil }); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	await("forbidden", func() bool { return strings.Contains(describe(t, k), forbidden.Error()) })
	s.set(func() { clear(s.errs); s.listTime = 1500 * time.Millisecond })
	await("permitted", func() bool { return describe(t, k) == "namespaced" })
}

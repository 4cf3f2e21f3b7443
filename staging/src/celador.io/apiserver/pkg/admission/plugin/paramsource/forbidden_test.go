// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

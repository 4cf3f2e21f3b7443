// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/params"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

const maxAge = 5 * time.Second

// awaitFresh waits as a request does that needs the params of a kind.
func awaitFresh(t *testing.T, k params.Handle) string {
	t.Helper()
	if err := k.(interface{ AwaitFresh(context.Context) error }).AwaitFresh(t.Context()); err != nil {
		if !apierrors.IsServiceUnavailable(err) {
			t.Errorf("got error %v, want one that asks for a retry", err)
		}
		return err.Error()
	}
	return ""
}

// Params are stale while their informer does not follow what is stored, and only those of the kind.
func TestStaleParams(t *testing.T) {
	const want = "the params of kind Limit in example.com/v1 that this server knows are 2"
	unavailable := apierrors.NewServiceUnavailable("no progress")
	for name, tc := range map[string]struct {
		lose func(*server)
		want string
	}{
		"nothing happens":           {func(*server) {}, ""},
		"no progress":               {func(s *server) { s.errs["list limits"] = unavailable }, want},
		"the watch cannot continue": {func(s *server) { s.errs["watch limits"] = unavailable; s.endWatches(limits) }, want},
		"the watch ended":           {func(s *server) { s.endWatches(limits) }, ""},
		"the kind is not served":    {func(s *server) { delete(s.resources, limits.GroupVersion().String()); s.endWatches(limits) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := newServer(), make(chan struct{})
				defer close(stop)
				s.serve(limits.GroupVersion(), namespacedLimits)
				s.serve(configMaps.GroupVersion(), configMapResource)
				source := paramsource.New(s, s, maxAge, nil, stop)
				limits, other := source.Open(limitKind), source.Open(configMapKind)
				defer limits.Close()
				defer other.Close()
				synced(t, limits)
				synced(t, other)
				<-time.After(time.Minute)
				if source.Stale() || awaitFresh(t, limits) != "" {
					t.Error("stale while the watches go on")
				}

				s.set(func() { tc.lose(s) })
				<-time.After(20 * time.Second)
				if got := awaitFresh(t, limits); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
					t.Errorf("got error %q, want %q", got, tc.want)
				}
				if source.Stale() != (tc.want != "") {
					t.Errorf("stale is %t", source.Stale())
				}
				if got := awaitFresh(t, other); got != "" {
					t.Errorf("another kind: %s", got)
				}
				source.Ages(func(kind schema.GroupVersionKind, age time.Duration) {
					if (age > maxAge) != (kind == limitKind && tc.want != "") {
						t.Errorf("the params of %v are %v old", kind, age)
					}
				})

				s.set(func() { delete(s.errs, "list limits"); delete(s.errs, "watch limits") })
				eventually(t, time.Minute, "params are fresh", func() bool { return !source.Stale() })
			})
		})
	}
}

// The age of params is not limited without a limit, and not while a kind cannot be listed at all:
// requests that need it fail by themselves.
func TestParamsWithoutAge(t *testing.T) {
	for name, age := range map[string]time.Duration{"no limit": 0, "never listed": maxAge} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := newServer(), make(chan struct{})
				defer close(stop)
				s.serve(limits.GroupVersion(), namespacedLimits)
				s.errs["list"], s.errs["watch"] = apierrors.NewServiceUnavailable("down"), apierrors.NewServiceUnavailable("down")
				source := paramsource.New(s, s, age, nil, stop)
				k := source.Open(limitKind)
				defer k.Close()
				<-time.After(time.Minute)
				if got := awaitFresh(t, k); got != "" || source.Stale() {
					t.Errorf("stale: %s", got)
				}
			})
		})
	}
}

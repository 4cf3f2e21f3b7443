// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

func TestUsersShareAnInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "first"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		one, other := source.Open(limitKind), source.Open(limitKind)
		old := synced(t, one)
		if l, err := other.Lister(t.Context()); err != nil || l != old {
			t.Errorf("second user has lister %v, %v, want that of the first", l, err)
		}
		expect := func(what string, lists, watching int) {
			t.Helper()
			synctest.Wait()
			if got := s.count("list"); got != lists {
				t.Errorf("%s: listed %d times, want %d", what, got, lists)
			}
			if got := s.watching(); got != watching {
				t.Errorf("%s: %d watches, want %d", what, got, watching)
			}
		}
		expect("two users", 1, 1)

		one.Close()
		one.Close()
		expect("one user", 1, 1)
		s.create(t, limits, limit("blue", "second"))
		synctest.Wait()
		if found, err := old.List("blue", labels.Everything()); err != nil || len(found) != 2 {
			t.Errorf("one user: found %v, %v, want 2", names(found), err)
		}

		other.Close()
		expect("no user", 1, 0)
		s.create(t, limits, limit("blue", "third"))
		synctest.Wait()
		if found, err := old.List("blue", labels.Everything()); err != nil || !cmp.Equal(names(found), []string{"first", "second"}) {
			t.Errorf("lister of a closed kind has %v, %v, want what it had", names(found), err)
		}
		if found, err := old.Get(t.Context(), "blue", "third"); err != nil || found.GetName() != "third" {
			t.Errorf("lister of a closed kind gets %v, %v from the server", found, err)
		}

		again := source.Open(limitKind)
		if found, err := synced(t, again).List("blue", labels.Everything()); err != nil || len(found) != 3 {
			t.Errorf("opened again: found %v, %v, want 3", names(found), err)
		}
		expect("opened again", 2, 1)
		again.Close()
		expect("closed again", 2, 0)
	})
}

func TestKindsAreFollowedSeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t)
		s.serve(limits.GroupVersion(), namespacedLimits)
		s.serve(configMaps.GroupVersion(), configMapResource)
		one, other := source.Open(limitKind), source.Open(configMapKind)
		synced(t, one)
		synced(t, other)
		if got := s.watching(); got != 2 {
			t.Errorf("%d watches of two kinds", got)
		}
		one.Close()
		synctest.Wait()
		s.set(func() {
			for w := range s.watches {
				if w.resource != configMaps {
					t.Errorf("%v is watched after it is closed", w.resource)
				}
			}
		})
	})
}

// synctest.Test waits for all goroutines, so it fails if one is left.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := newServer(), make(chan struct{})
		source := paramsource.New(s, s, 0, nil, stop)
		s.serve(limits.GroupVersion(), namespacedLimits)
		served, unknown := source.Open(limitKind), source.Open(configMapKind)
		synced(t, served)
		if l, err := unknown.Lister(t.Context()); err == nil {
			t.Errorf("unknown kind has lister %v", l)
		}

		close(stop)
		eventually(t, 0, "watches end", func() bool { return s.watching() == 0 })
		lookups := s.count("discover")
		<-time.After(time.Minute)
		if s.count("discover") != lookups {
			t.Error("kinds are still looked for after stop")
		}
		if l, err := source.Open(limitKind.GroupVersion().WithKind("Late")).Lister(t.Context()); err == nil {
			t.Errorf("kind opened after stop has lister %v", l)
		}
		served.Close()
	})
}

func TestConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "only"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		var users sync.WaitGroup
		for range 16 {
			users.Go(func() {
				for range 20 {
					k := source.Open(limitKind)
					l, err := k.Lister(t.Context())
					if err != nil {
						t.Errorf("served kind: %v", err)
						return
					}
					if _, err := l.List("blue", labels.Everything()); err != nil {
						t.Error(err)
					}
					if _, err := l.Get(t.Context(), "blue", "only"); err != nil {
						t.Error(err)
					}
					k.Close()
				}
			})
		}
		users.Wait()
		eventually(t, 0, "all watches end", func() bool { return s.watching() == 0 })
		k := source.Open(limitKind)
		defer k.Close()
		if found, err := synced(t, k).List("blue", labels.Everything()); err != nil || len(found) != 1 {
			t.Errorf("found %v, %v after all that", names(found), err)
		}
	})
}

// A source sends no request before the server serves all of its paths.
func TestServedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, served, stop := newServer(limit("blue", "first")), make(chan struct{}), make(chan struct{})
		defer close(stop)
		s.serve(limits.GroupVersion(), namespacedLimits)
		source := paramsource.New(s, s, 0, served, stop)
		k := source.Open(limitKind)
		defer k.Close()
		<-time.After(time.Minute)
		if got := s.count("discover"); got != 0 {
			t.Errorf("%d discoveries before the server serves its paths", got)
		}
		if err := source.Synced(); err == nil {
			t.Error("synced before the server serves its paths")
		}
		close(served)
		eventually(t, 0, "params are synced", func() bool { return source.Synced() == nil })
	})
}

func TestSynced(t *testing.T) {
	unavailable := apierrors.NewServiceUnavailable("starting")
	for name, tc := range map[string]struct {
		discovery, list error
		served          bool
		want            string
	}{
		"served":          {nil, nil, true, ""},
		"not served":      {nil, nil, false, ""},
		"discovery fails": {unavailable, nil, true, "params of kind example.com/v1, Kind=Limit: resources of example.com/v1: starting"},
		"list fails":      {nil, unavailable, true, "params of kind example.com/v1, Kind=Limit: not listed yet"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := started(t)
				s.serve(configMaps.GroupVersion(), configMapResource)
				if tc.served {
					s.serve(limits.GroupVersion(), namespacedLimits)
				}
				if err := source.Synced(); err != nil {
					t.Errorf("without open kinds: %v", err)
				}
				other := source.Open(configMapKind)
				defer other.Close()
				synced(t, other)
				s.set(func() { s.discoveryErr, s.errs["list"] = tc.discovery, tc.list })
				k := source.Open(limitKind)
				for range 2 {
					synctest.Wait()
					got := ""
					if err := source.Synced(); err != nil {
						got = err.Error()
					}
					if got != tc.want {
						t.Errorf("got error %q, want %q", got, tc.want)
					}
					<-time.After(5 * time.Second)
				}
				s.set(func() { s.discoveryErr = nil; delete(s.errs, "list") })
				eventually(t, time.Minute, "params are synced", func() bool { return source.Synced() == nil })
				s.set(func() { s.errs["list"] = unavailable })
				k.Close()
				if err := source.Synced(); err != nil {
					t.Errorf("after the kind is closed: %v", err)
				}
			})
		})
	}
}

// The first discoveries that fail follow one another soon, and requests wait for them.
func TestFirstDiscoveryFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t)
		s.serve(limits.GroupVersion(), namespacedLimits)
		s.set(func() { s.discoveryErr = apierrors.NewServiceUnavailable("starting") })
		k := source.Open(limitKind)
		defer k.Close()
		time.AfterFunc(500*time.Millisecond, func() { s.set(func() { s.discoveryErr = nil }) })
		if _, err := k.Lister(t.Context()); err != nil {
			t.Errorf("a request during the start: %v", err)
		}

		s.set(func() { s.discoveryErr = apierrors.NewServiceUnavailable("down") })
		down := source.Open(limitKind.GroupVersion().WithKind("Other"))
		defer down.Close()
		before := s.count("discover")
		<-time.After(time.Minute)
		if got := s.count("discover") - before; got > 80 {
			t.Errorf("%d discoveries in a minute", got)
		}
		begin := time.Now()
		if _, err := down.Lister(t.Context()); err == nil || time.Since(begin) != 0 {
			t.Errorf("a request while discovery fails got error %v after %v, want one at once", err, time.Since(begin))
		}
	})
}

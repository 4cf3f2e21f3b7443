// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"celador.io/celador/plugin/pkg/admission/paramsource"
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
		source := paramsource.New(s, s, stop)
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

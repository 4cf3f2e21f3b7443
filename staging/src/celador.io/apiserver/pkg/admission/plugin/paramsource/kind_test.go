// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

const (
	unknownGroup = "error: resources of example.com/v1: the server could not find the requested resource"
	unknownKind  = `error: no matches for kind "Limit" in version "example.com/v1"`
)

// The informer adapts when a kind is served by another resource, in another scope, or not at all.
func TestKindChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "first"), limit("", "cluster"))
		gv := limits.GroupVersion()
		others := []metav1.APIResource{
			{Name: "bounds", Kind: "Bound", Namespaced: true},
			{Name: "bounds/limit", Kind: "Limit", Namespaced: true},
		}
		renamed := clusterLimits
		renamed.Name = newLimits.Resource
		k := source.Open(limitKind)
		defer k.Close()
		for _, step := range []struct {
			name     string
			served   []metav1.APIResource
			want     string
			watching int
		}{
			{"unknown group", nil, unknownGroup, 0},
			{"other kinds only", others, unknownKind, 0},
			{"appears", append(others, namespacedLimits), "namespaced", 1},
			{"other kinds change", []metav1.APIResource{namespacedLimits}, "namespaced", 1},
			{"kind disappears", others, unknownKind, 0},
			{"reappears with another scope", []metav1.APIResource{clusterLimits}, "cluster-scoped", 1},
			{"has another resource", []metav1.APIResource{renamed}, "cluster-scoped", 1},
			{"version disappears", nil, unknownGroup, 0},
			{"version comes back", []metav1.APIResource{namespacedLimits}, "namespaced", 1},
			{"is deleted and created at once", []metav1.APIResource{clusterLimits}, "cluster-scoped", 1},
		} {
			s.serve(gv, step.served...)
			var got string
			eventually(t, 11*time.Second, step.name, func() bool {
				got = describe(t, k)
				return got == step.want && s.watching() == step.watching
			})
			<-time.After(30 * time.Second)
			synctest.Wait()
			if got = describe(t, k); got != step.want || s.watching() != step.watching {
				t.Errorf("%s: %q and %d watches after a while, want %q and %d", step.name, got, s.watching(), step.want, step.watching)
			}
		}
	})
}

// Deleting a CRD ends its watches, which triggers a discovery before the next periodic one.
func TestKindGoneIsNoticedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "first"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		k := source.Open(limitKind)
		defer k.Close()
		synced(t, k)
		<-time.After(12 * time.Second)
		for range 3 {
			s.serve(limits.GroupVersion())
			eventually(t, 2*time.Second, "kind is not served", func() bool { return describe(t, k) == unknownGroup })
			lists := s.count("list")
			<-time.After(time.Minute)
			if got := s.count("list") - lists; got != 0 {
				t.Errorf("listed %d times while the kind is not served", got)
			}
			s.serve(limits.GroupVersion(), namespacedLimits)
			eventually(t, 2*time.Second, "kind is back", func() bool { return describe(t, k) == "namespaced" })
		}
		l := synced(t, k)
		if found, err := l.List("blue", labels.Everything()); err != nil || len(found) != 1 {
			t.Errorf("found %v, %v when the kind is back", names(found), err)
		}
	})
}

// A failed discovery does not affect a kind, unless the error is NotFound.
func TestDiscoveryFails(t *testing.T) {
	for name, err := range map[string]error{
		"unavailable": apierrors.NewServiceUnavailable("starting"),
		"forbidden":   apierrors.NewForbidden(schema.GroupResource{}, "", nil),
		"network":     errors.New("connection refused"),
		"timeout":     context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := started(t)
				s.serve(limits.GroupVersion(), namespacedLimits)
				s.set(func() { s.discoveryErr = err })
				k := source.Open(limitKind)
				defer k.Close()
				if l, failed := k.Lister(t.Context()); !errors.Is(failed, err) {
					t.Errorf("lister is %v, %v, want %v", l, failed, err)
				}
				s.set(func() { s.discoveryErr = nil })
				eventually(t, time.Second, "kind is found", func() bool { return describe(t, k) == "namespaced" })

				before, lookups := synced(t, k), s.count("discover")
				s.set(func() { s.discoveryErr = err })
				eventually(t, time.Minute, "kind is verified", func() bool { return s.count("discover") >= lookups+3 })
				s.create(t, limits, limit("blue", "new"))
				synctest.Wait()
				after, failed := k.Lister(t.Context())
				if failed != nil || after != before {
					t.Fatalf("lister is %v, %v, want that of before", after, failed)
				}
				if found, err := after.List("blue", labels.Everything()); err != nil || len(found) != 1 {
					t.Errorf("found %v, %v while discovery fails", names(found), err)
				}
			})
		})
	}
}

// A watch that is refused while the kind is served does not stop the informer.
func TestWatchIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t)
		s.serve(limits.GroupVersion(), namespacedLimits)
		s.set(func() { s.errs["watch"] = apierrors.NewMethodNotSupported(limits.GroupResource(), "watch") })
		k := source.Open(limitKind)
		defer k.Close()
		l := synced(t, k)
		eventually(t, 5*time.Second, "refusal makes the kind be looked up", func() bool { return s.count("discover") > 1 })
		s.set(func() { delete(s.errs, "watch") })
		s.create(t, limits, limit("blue", "new"))
		eventually(t, time.Minute, "param is seen", func() bool {
			found, err := l.List("blue", labels.Everything())
			return err == nil && len(found) == 1
		})
	})
}

func TestListerWaits(t *testing.T) {
	const never = time.Hour
	for _, tc := range []struct {
		name    string
		answer  time.Duration
		caller  time.Duration
		want    time.Duration
		wantErr error
	}{
		{"at once", 0, never, 0, nil},
		{"slow", 900 * time.Millisecond, never, 900 * time.Millisecond, nil},
		{"too slow", 1100 * time.Millisecond, never, time.Second, context.DeadlineExceeded},
		{"caller cancels", 900 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond, context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := started(t)
				s.serve(limits.GroupVersion(), namespacedLimits)
				answer := make(chan struct{})
				s.set(func() { s.answer = answer })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begin := time.Now()
				time.AfterFunc(tc.answer, func() { close(answer) })
				time.AfterFunc(tc.caller, cancel)
				k := source.Open(limitKind)
				defer k.Close()
				if waited := time.Since(begin); waited != 0 {
					t.Errorf("opened after %v", waited)
				}
				_, err := k.Lister(ctx)
				if waited := time.Since(begin); waited != tc.want {
					t.Errorf("answered after %v, want %v", waited, tc.want)
				}
				if !errors.Is(err, tc.wantErr) {
					t.Errorf("error is %v, want %v", err, tc.wantErr)
				}
				eventually(t, 2*time.Second, "kind is found", func() bool { return describe(t, k) == "namespaced" })
			})
		})
	}
}

// If params cannot be listed, requests get an error instead of an empty list.
func TestParamsThatCannotBeListed(t *testing.T) {
	for name, err := range map[string]error{
		"internal": apierrors.NewInternalError(errors.New("storage is down")),
		"no list":  apierrors.NewMethodNotSupported(limits.GroupResource(), "list"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := started(t, limit("blue", "first"))
				s.serve(limits.GroupVersion(), namespacedLimits)
				s.set(func() { s.errs["list"] = err })
				k := source.Open(limitKind)
				defer k.Close()
				eventually(t, time.Minute, "params are listed in vain", func() bool { return s.count("list") > 3 })
				l, failed := k.Lister(t.Context())
				if failed != nil || isSynced(l) {
					t.Fatalf("lister is %v, %v and synced: %v, want one that is not", l, failed, failed == nil && isSynced(l))
				}
				s.set(func() { delete(s.errs, "list") })
				eventually(t, time.Minute, "params are synced", func() bool { return isSynced(l) })
			})
		})
	}
}

// A discovery error is logged when it changes, not at every retry.
func TestChangesAreLoggedOnce(t *testing.T) {
	state := klog.CaptureState()
	defer state.Restore()
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	for name, value := range map[string]string{"v": "2", "logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	log := &buffer{}
	klog.SetOutput(log)
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t)
		k := source.Open(limitKind)
		defer k.Close()
		cause := strings.TrimPrefix(unknownGroup, "error: ")
		expect := func(what string, times int) {
			t.Helper()
			klog.Flush()
			if got := strings.Count(log.String(), cause); got != times {
				t.Errorf("%s: logged %d times, want %d:\n%s", what, got, times, log.String())
			}
		}
		<-time.After(time.Minute)
		expect("not served", 1)
		s.serve(limits.GroupVersion(), namespacedLimits)
		eventually(t, time.Second, "kind is found", func() bool { return describe(t, k) == "namespaced" })
		s.serve(limits.GroupVersion())
		eventually(t, 11*time.Second, "kind is not served", func() bool { return describe(t, k) == unknownGroup })
		<-time.After(time.Minute)
		expect("unserved", 2)
	})
}

type buffer struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written.String()
}

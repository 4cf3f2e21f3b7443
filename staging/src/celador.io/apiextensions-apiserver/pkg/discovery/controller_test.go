// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"

	ours "celador.io/apiextensions-apiserver/pkg/discovery"
)

// A recorder records calls of a resource manager.
type recorder struct {
	aggregated.ResourceManager
	lock  sync.Mutex
	calls []string
	// hold, unless nil, holds up the first call until it is closed.
	hold chan struct{}
}

func (r *recorder) record(call string) {
	if r.hold != nil {
		<-r.hold
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) AddGroupVersion(group string, version apidiscoveryv2.APIVersionDiscovery) {
	var resources []string
	for _, resource := range version.Resources {
		resources = append(resources, resource.Resource)
	}
	r.record(fmt.Sprintf("add %s/%s %s", group, version.Version, resources))
}

func (r *recorder) SetGroupVersionPriority(version metav1.GroupVersion, group, priority int) {
	r.record(fmt.Sprintf("priority %s %d %d", version, group, priority))
}

func (r *recorder) RemoveGroup(group string) { r.record("remove " + group) }

func (r *recorder) RemoveGroupVersion(version metav1.GroupVersion) {
	r.record("remove " + version.String())
}

// take returns the calls since it was called before, joined. Calls for different groups have no
// order, so that take sorts by group.
func (r *recorder) take() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	calls := r.calls
	r.calls = nil
	slices.SortStableFunc(calls, func(a, b string) int { return strings.Compare(groupOf(a), groupOf(b)) })
	return strings.Join(calls, "; ")
}

func groupOf(call string) string {
	group, _, _ := strings.Cut(strings.Fields(call)[1], "/")
	return group
}

// subject is a running controller, what it has published, and whether it has synced.
type subject struct {
	*recorder
	*ours.Handler
	synced chan struct{}
}

func newSubject(t *testing.T, c *cluster) *subject {
	t.Helper()
	s := &subject{&recorder{}, ours.NewHandler(upstream.Codecs, delegate), make(chan struct{})}
	controller, err := ours.NewController(c, s.Handler, s.recorder)
	if err != nil {
		t.Fatal(err)
	}
	c.run(func(ctx context.Context) { controller.Run(ctx, s.synced) })
	return s
}

func (s *subject) hasSynced() bool {
	select {
	case <-s.synced:
		return true
	default:
		return false
	}
}

func TestController(t *testing.T) {
	type change func(*cluster)
	add := func(crds ...*definition) change {
		return func(c *cluster) {
			for _, crd := range crds {
				c.Add(crd)
			}
		}
	}
	update := func(crd *definition) change { return func(c *cluster) { c.Modify(crd) } }
	tests := map[string]struct {
		before []*definition
		change change
		// want are the calls of the resource manager after the change.
		want string
		// served and unserved are paths after the change.
		served, unserved []string
	}{
		"new group": {
			change: add(define("foos", group)),
			want:   "add example.com/v1 [foos]; priority example.com/v1 1000 100",
			served: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
		"new group, not established": {
			change:   add(define("foos", group, notEstablished)),
			unserved: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
		"established": {
			before: []*definition{define("foos", group, notEstablished)},
			change: update(define("foos", group)),
			want:   "add example.com/v1 [foos]; priority example.com/v1 1000 100",
			served: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
		"other group": {
			before: []*definition{define("foos", group)},
			change: add(define("bars", "other.com")),
			want:   "add other.com/v1 [bars]; priority other.com/v1 1000 100",
			served: []string{"/apis/example.com", "/apis/other.com"},
		},
		"second resource": {
			before: []*definition{define("foos", group)},
			change: add(define("bars", group)),
			want:   "add example.com/v1 [bars foos]; priority example.com/v1 1000 100",
			served: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
		"second version": {
			before: []*definition{define("foos", group)},
			change: update(define("foos", group, versions("v2 served stored", "v1 served"))),
			// The storage version hash of v1 changes as well, although the aggregated document
			// lacks it.
			want:   "add example.com/v2 [foos]; priority example.com/v2 1000 100; add example.com/v1 [foos]; priority example.com/v1 1000 100",
			served: []string{"/apis/example.com", "/apis/example.com/v1", "/apis/example.com/v2"},
		},
		"version removed": {
			before:   []*definition{define("foos", group, versions("v1 served stored", "v2 served"))},
			change:   update(define("foos", group)),
			want:     "remove example.com/v2",
			served:   []string{"/apis/example.com", "/apis/example.com/v1"},
			unserved: []string{"/apis/example.com/v2"},
		},
		"version no longer served": {
			before:   []*definition{define("foos", group, versions("v1 served stored", "v2 served"))},
			change:   update(define("foos", group, versions("v1 served stored", "v2"))),
			want:     "remove example.com/v2",
			served:   []string{"/apis/example.com/v1"},
			unserved: []string{"/apis/example.com/v2"},
		},
		"version of another resource": {
			before: []*definition{define("foos", group, versions("v1 served stored", "v2 served")), define("bars", group, versions("v2 served stored"))},
			change: update(define("foos", group)),
			want:   "add example.com/v2 [bars]; priority example.com/v2 1000 100",
			served: []string{"/apis/example.com/v1", "/apis/example.com/v2"},
		},
		"only version replaced": {
			before:   []*definition{define("foos", group)},
			change:   update(define("foos", group, versions("v2 served stored"))),
			want:     "add example.com/v2 [foos]; priority example.com/v2 1000 100; remove example.com/v1",
			served:   []string{"/apis/example.com", "/apis/example.com/v2"},
			unserved: []string{"/apis/example.com/v1"},
		},
		"no version served": {
			before:   []*definition{define("foos", group)},
			change:   update(define("foos", group, versions("v1 stored"))),
			want:     "remove example.com",
			unserved: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
		"terminating": {
			before: []*definition{define("foos", group)},
			change: update(define("foos", group, condition(apiextensionsv1.Terminating))),
			want:   "add example.com/v1 [foos]; priority example.com/v1 1000 100",
			served: []string{"/apis/example.com/v1"},
		},
		"condition that discovery does not show": {
			before: []*definition{define("foos", group)},
			change: update(define("foos", group, condition(apiextensionsv1.NonStructuralSchema))),
			served: []string{"/apis/example.com/v1"},
		},
		"resync": {
			before: []*definition{define("foos", group)},
			change: func(*cluster) { time.Sleep(time.Hour) },
			served: []string{"/apis/example.com/v1"},
		},
		"one of two deleted": {
			before: []*definition{define("foos", group), define("bars", group)},
			change: func(c *cluster) { c.Delete(define("bars", group)) },
			want:   "add example.com/v1 [foos]; priority example.com/v1 1000 100",
			served: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
		"deleted": {
			before:   []*definition{define("foos", group, versions("v1 served stored", "v2 served"))},
			change:   func(c *cluster) { c.Delete(define("foos", group)) },
			want:     "remove example.com",
			unserved: []string{"/apis/example.com", "/apis/example.com/v1", "/apis/example.com/v2"},
		},
		"deletion missed by the watch": {
			before:   []*definition{define("foos", group), define("bars", "other.com")},
			change:   func(c *cluster) { c.miss(define("foos", group)) },
			want:     "remove example.com",
			served:   []string{"/apis/other.com"},
			unserved: []string{"/apis/example.com", "/apis/example.com/v1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, test.before...)
				s := newSubject(t, c)
				c.start()
				settle()
				if !s.hasSynced() {
					t.Error("has not synced")
				}
				s.take()

				test.change(c)
				settle()
				if diff := cmp.Diff(test.want, s.take()); diff != "" {
					t.Errorf("calls of the resource manager, -want +got:\n%s", diff)
				}
				for _, path := range test.served {
					if code, _ := get(s.Handler, path, "application/json"); code != 200 {
						t.Errorf("%s: status %d, want 200", path, code)
					}
				}
				for _, path := range test.unserved {
					expect(t, s.Handler, path, "")
				}
			})
		})
	}
}

func TestSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, define("foos", group), define("bars", "other.com"))
		s := newSubject(t, c)
		s.recorder.hold = make(chan struct{})
		settle()
		if s.hasSynced() {
			t.Error("synced before the informer started")
		}
		c.start()
		settle()
		if s.hasSynced() {
			t.Error("synced before the resource manager had all groups")
		}
		close(s.recorder.hold)
		settle()
		if !s.hasSynced() {
			t.Error("has not synced")
		}
		want := "add example.com/v1 [foos]; priority example.com/v1 1000 100; add other.com/v1 [bars]; priority other.com/v1 1000 100"
		if diff := cmp.Diff(want, s.take()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestNoCRDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := newSubject(t, c)
		c.start()
		settle()
		if !s.hasSynced() {
			t.Error("has not synced")
		}
	})
}

func TestNoResourceManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, define("foos", group))
		handler, synced := ours.NewHandler(upstream.Codecs, delegate), make(chan struct{})
		controller, err := ours.NewController(c, handler, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.run(func(ctx context.Context) { controller.Run(ctx, synced) })
		c.start()
		<-synced
		expect(t, handler, "/apis/example.com", groupDocument)
		c.Delete(define("foos", group))
		settle()
		expect(t, handler, "/apis/example.com", "")
	})
}

func TestSecondController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		newSubject(t, c)
		_, err := ours.NewController(c, ours.NewHandler(upstream.Codecs, delegate), nil)
		if want := "indexing CustomResourceDefinitions by group"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	})
}

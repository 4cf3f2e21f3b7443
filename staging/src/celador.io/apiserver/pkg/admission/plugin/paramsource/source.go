// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paramsource watches the params of policies. Each open kind, built-in or custom, has one
// informer. A kind is open while a policy has a handle for it. The informer starts when the kind is
// first opened, is replaced when the server serves the kind differently, and stops when the last
// handle is closed.
package paramsource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"

	"celador.io/admission/params"
)

// Discovery returns the served resources. Implementations must not cache, because a source detects
// changes by calling them again. discovery.DiscoveryInterfaceWithContext is one.
type Discovery interface {
	// ServerResourcesForGroupVersionWithContext returns the resources of a group and version. If
	// the version is not served, the error satisfies apierrors.IsNotFound.
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// A Source implements params.Source. It is safe for concurrent use.
type Source struct {
	ctx       context.Context
	discovery Discovery
	client    dynamic.Interface
	served    <-chan struct{}
	maxAge    time.Duration

	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]*kind
	// limited holds the kinds that have handles, for requests to read without a lock. It is nil if
	// the age of params is not limited. It is replaced under mu when kinds changes.
	limited atomic.Pointer[[]*kind]
}

var _ params.Source = &Source{}

// New returns a source that watches params until stop is closed. It sends no requests before served
// is closed: while a server installs its paths, it answers requests with errors that ask clients to
// wait for seconds. served is nil if the server has installed them already. maxAge is the age of
// params above which they are stale, or 0 for no limit.
func New(discovery Discovery, client dynamic.Interface, maxAge time.Duration, served, stop <-chan struct{}) *Source {
	if served == nil {
		installed := make(chan struct{})
		close(installed)
		served = installed
	}
	ctx := wait.ContextForChannel(stop)
	return &Source{
		ctx:       klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "params")),
		discovery: discovery,
		client:    client,
		served:    served,
		maxAge:    maxAge,
		kinds:     map[schema.GroupVersionKind]*kind{},
	}
}

// Open implements params.Source. All users of a kind share one informer.
func (s *Source) Open(gvk schema.GroupVersionKind) params.Handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kinds[gvk]
	if !ok {
		ctx, stop := context.WithCancel(s.ctx)
		k = newKind(gvk, s.discovery, s.client, s.maxAge, stop)
		s.kinds[gvk] = k
		s.limit()
		go func() {
			select {
			case <-s.served:
				k.run(ctx)
			case <-ctx.Done():
			}
		}()
	}
	k.users++
	return &opened{kind: k, release: sync.OnceFunc(func() { s.release(k) })}
}

// Synced returns nil if the params of each kind that has a handle are known, or the server does not
// serve the kind. Otherwise it joins an error for each other kind.
func (s *Source) Synced() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for gvk, k := range s.kinds {
		if err := k.synced(); err != nil {
			errs = append(errs, fmt.Errorf("params of kind %v: %w", gvk, err))
		}
	}
	return errors.Join(errs...)
}

// limit copies the kinds that have handles to limited, which requests read without a lock, if the
// age of params is limited. The caller holds the lock.
func (s *Source) limit() {
	if s.maxAge > 0 {
		kinds := slices.Collect(maps.Values(s.kinds))
		s.limited.Store(&kinds)
	}
}

func (s *Source) release(k *kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(s.kinds, k.gvk)
		s.limit()
		k.stop()
	}
}

// An opened kind is one user's access to a kind.
type opened struct {
	*kind
	release func()
}

// Close implements params.Handle. Further calls have no effect.
func (o *opened) Close() { o.release() }

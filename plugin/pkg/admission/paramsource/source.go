// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package paramsource follows the params of policies in a cluster. Each kind that is
// open has one informer, for built-in and custom kinds alike, which starts when the
// kind is first opened, adapts to what the server serves, and ends with the last user.
package paramsource

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"

	"celador.io/admission/params"
)

// Discovery tells which resources are served. It must not answer from a cache, as
// changes are found by asking again. discovery.DiscoveryInterfaceWithContext has it.
type Discovery interface {
	// ServerResourcesForGroupVersionWithContext returns the resources of a group and
	// version, or a NotFound API error.
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// Source implements params.Source.
type Source struct {
	ctx       context.Context
	discovery Discovery
	client    dynamic.Interface

	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]*kind
}

var _ params.Source = &Source{}

// New returns a source that works until stop is closed.
func New(discovery Discovery, client dynamic.Interface, stop <-chan struct{}) *Source {
	ctx := wait.ContextForChannel(stop)
	return &Source{
		ctx:       klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "params")),
		discovery: discovery,
		client:    client,
		kinds:     map[schema.GroupVersionKind]*kind{},
	}
}

// Open implements params.Source. All users of a kind share what is known of it.
func (s *Source) Open(gvk schema.GroupVersionKind) params.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kinds[gvk]
	if !ok {
		ctx, stop := context.WithCancel(s.ctx)
		k = newKind(gvk, s.discovery, s.client, stop)
		s.kinds[gvk] = k
		go k.run(ctx)
	}
	k.users++
	return &opened{kind: k, release: sync.OnceFunc(func() { s.release(k) })}
}

func (s *Source) release(k *kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(s.kinds, k.gvk)
		k.stop()
	}
}

// opened is one user's access to a kind.
type opened struct {
	*kind
	release func()
}

// Close implements params.Kind. Only the first call counts.
func (o *opened) Close() { o.release() }

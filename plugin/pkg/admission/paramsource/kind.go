// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/admission/params"
)

const (
	// patience is how long a request waits for the first answer about a kind.
	patience = time.Second
	// retryInterval is how often a kind that is not served is looked for.
	retryInterval = time.Second
	// verifyInterval is how often it is verified that a kind is still served in the
	// same way. A watch that fails usually tells sooner.
	verifyInterval = 10 * time.Second
)

// kind follows one kind until it is stopped.
type kind struct {
	gvk       schema.GroupVersionKind
	discovery Discovery
	client    dynamic.Interface
	stop      context.CancelFunc
	// users is guarded by the mutex of the source.
	users int

	// tried is closed once current is set for the first time.
	tried   chan struct{}
	current atomic.Pointer[state]
	// doubt has an element when the kind may no longer be served.
	doubt chan struct{}
}

// state is what is known of a kind: how it is listed or why it cannot be.
type state struct {
	lister params.Lister
	err    error
}

func newKind(gvk schema.GroupVersionKind, discovery Discovery, client dynamic.Interface, stop context.CancelFunc) *kind {
	return &kind{
		gvk:       gvk,
		discovery: discovery,
		client:    client,
		stop:      stop,
		tried:     make(chan struct{}),
		doubt:     make(chan struct{}, 1),
	}
}

// Lister implements params.Kind.
func (k *kind) Lister(ctx context.Context) (params.Lister, error) {
	if s := k.current.Load(); s != nil {
		return s.lister, s.err
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-k.tried:
		s := k.current.Load()
		return s.lister, s.err
	case <-waiting.Done():
		return nil, fmt.Errorf("looking for the resource of %v takes too long: %w", k.gvk, waiting.Err())
	}
}

func (k *kind) run(ctx context.Context) {
	f := follower{kind: k, logger: klog.FromContext(ctx).WithValues("paramKind", k.gvk), cancel: func() {}}
	ctx = klog.NewContext(ctx, f.logger)
	for {
		f.look(ctx)
		pause := retryInterval
		if f.following {
			pause = verifyInterval
		}
		select {
		case <-ctx.Done():
			return
		case <-k.doubt:
		case <-time.After(pause):
		}
	}
}

func (k *kind) publish(s *state) {
	if k.current.Swap(s) == nil {
		close(k.tried)
	}
}

// watchFailed is called between the attempts of an informer. Other errors than those
// of a resource that is not there may pass, so the informer goes on.
func (k *kind) watchFailed(ctx context.Context, r *cache.Reflector, err error) {
	if !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		return
	}
	klog.FromContext(ctx).V(2).Info("Params cannot be watched, looking whether their kind is still served", "err", err)
	select {
	case k.doubt <- struct{}{}:
	default:
	}
}

// follower keeps the state of a kind up to date. Only one goroutine uses it.
type follower struct {
	*kind
	logger klog.Logger

	// following says that there is an informer, for this resource. It ends with cancel.
	following bool
	resource  resource
	cancel    context.CancelFunc
	// trouble is what was wrong at the last look.
	trouble string
}

func (f *follower) look(ctx context.Context) {
	found, err := resolve(ctx, f.discovery, f.gvk)
	if err == nil && (!f.following || found != f.resource) {
		err = f.follow(ctx, found)
	}
	// An informer goes on when it cannot be told whether the kind is still served.
	if err != nil && (!f.following || notServed(err)) {
		f.cancel()
		f.following = false
		f.publish(&state{err: err})
	}
	f.report(err)
}

func (f *follower) follow(ctx context.Context, r resource) error {
	ctx, cancel := context.WithCancel(ctx)
	informer, err := newInformer(f.client, r, f.gvk, f.watchFailed)
	if err != nil {
		cancel()
		return err
	}
	go informer.RunWithContext(ctx)
	f.publish(&state{lister: newLister(f.client, r, f.gvk, informer)})
	f.cancel()
	f.following, f.resource, f.cancel = true, r, cancel
	f.logger.V(2).Info("Following params", "resource", r.GroupVersionResource, "namespaced", r.namespaced)
	return nil
}

// report logs what is wrong, but not again and again.
func (f *follower) report(err error) {
	trouble := ""
	if err != nil {
		trouble = err.Error()
	}
	if trouble != "" && trouble != f.trouble {
		f.logger.V(2).Info("Looking for the resource of params failed", "following", f.following, "err", err)
	}
	f.trouble = trouble
}

func notServed(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/admission/params"

	"celador.io/apiserver/pkg/admission/plugin/freshness"
)

const (
	// discoveryTimeout is how long requests wait for the first discovery of a kind. Until then, an
	// error of discovery does not count as the result.
	discoveryTimeout = time.Second
	// firstRetry is the time after which a discovery that failed is repeated. It doubles up to
	// retryInterval.
	firstRetry = 50 * time.Millisecond
	// retryInterval is the time between discoveries of a kind that is not served.
	retryInterval = time.Second
	// verifyInterval is the time between discoveries of a kind that is served. A failing watch
	// usually triggers one earlier.
	verifyInterval = 10 * time.Second
)

// A kind watches the objects of one kind until stop is called.
type kind struct {
	gvk       schema.GroupVersionKind
	discovery Discovery
	client    dynamic.Interface
	stop      context.CancelFunc
	// fresh is nil if the age of params is not limited.
	fresh *freshness.Freshness
	// users is the number of handles that are not closed. It is guarded by the mutex of the source.
	users int

	// discovered is closed once current is set for the first time.
	discovered chan struct{}
	current    atomic.Pointer[state]
	// failed holds the last error of discovery until discovery has succeeded for the first time.
	// Requests that have waited for that in vain return the error.
	failed atomic.Pointer[state]
	// recheck gets an element to trigger a discovery, when the kind may no longer be served.
	recheck chan struct{}
}

// A state is the result of the last discovery of a kind: its lister, or the reason why there is
// none.
type state struct {
	lister params.Lister
	// watched is the watch behind lister.
	watched *watched
	err     error
}

func newKind(gvk schema.GroupVersionKind, discovery Discovery, client dynamic.Interface, maxAge time.Duration, stop context.CancelFunc) *kind {
	k := &kind{
		gvk:        gvk,
		discovery:  discovery,
		client:     client,
		stop:       stop,
		discovered: make(chan struct{}),
		recheck:    make(chan struct{}, 1),
	}
	if maxAge > 0 {
		k.fresh = freshness.New(fmt.Sprintf("params of kind %s in %s", gvk.Kind, gvk.GroupVersion()), maxAge, k.checkFresh)
	}
	return k
}

// read returns the lister, or the reason why there is none. If the server forbids listing the
// params, it returns the server's error at once, so that requests do not wait for the informer to
// sync.
func (s *state) read() (params.Lister, error) {
	if s.err != nil {
		return nil, s.err
	}
	if err := s.forbidden(); err != nil {
		return nil, err
	}
	return s.lister, nil
}

// forbidden returns the server's error if it forbids listing the params, and nil if the informer
// has listed them before.
func (s *state) forbidden() error {
	if s == nil || s.watched == nil {
		return nil
	}
	forbidden := s.watched.forbidden.Load()
	if forbidden == nil {
		return nil
	}
	select {
	case <-s.lister.Synced():
		return nil
	default:
		return *forbidden
	}
}

// refused reports whether the informer must be replaced: the server has forbidden it to list the
// params, and it now waits ever longer before it tries again. A new informer, whose first list
// still runs, is not refused, even if the server forbade the one before.
func (s *state) refused() bool { return s.forbidden() != nil && s.watched.refused.Load() }

// Lister implements params.Handle.
func (k *kind) Lister(ctx context.Context) (params.Lister, error) {
	if s := k.current.Load(); s != nil {
		return s.read()
	}
	waiting, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	select {
	case <-k.discovered:
		return k.current.Load().read()
	case <-waiting.Done():
		if failed := k.failed.Load(); failed != nil && ctx.Err() == nil {
			return nil, failed.err
		}
		return nil, fmt.Errorf("looking for the resource of %v takes too long: %w", k.gvk, waiting.Err())
	}
}

func (k *kind) run(ctx context.Context) {
	r := reconciler{kind: k, logger: klog.FromContext(ctx).WithValues("paramKind", k.gvk), cancel: func() {}, started: time.Now()}
	ctx = klog.NewContext(ctx, r.logger)
	if k.fresh != nil {
		go k.fresh.Run(ctx)
	}
	retry := firstRetry
	for {
		err := r.reconcile(ctx)
		pause := retryInterval
		switch {
		case r.running && k.current.Load().forbidden() != nil:
		case r.running:
			pause, retry = verifyInterval, firstRetry
		case !NotServed(err):
			pause, retry = retry, min(2*retry, retryInterval)
		}
		select {
		case <-ctx.Done():
			return
		case <-k.recheck:
		case <-time.After(pause):
		}
	}
}

// synced returns nil if the params are known, or if the server does not serve the kind.
func (k *kind) synced() error {
	s := k.current.Load()
	switch {
	case s == nil && k.failed.Load() != nil:
		return k.failed.Load().err
	case s == nil:
		return errors.New("not looked for yet")
	case s.err != nil && NotServed(s.err):
		return nil
	}
	lister, err := s.read()
	if err != nil {
		return err
	}
	select {
	case <-lister.Synced():
		return nil
	default:
		return errors.New("not listed yet")
	}
}

func (k *kind) publish(s *state) {
	if k.current.Swap(s) == nil {
		close(k.discovered)
	}
}

// watchFailed is called when a watch of an informer has failed. The informer itself tries again. If
// the resource may no longer be served, or is forbidden for the first time, watchFailed triggers a
// reconciliation.
func (k *kind) watchFailed(ctx context.Context, r *cache.Reflector, err error, wasForbidden bool) {
	switch {
	case apierrors.IsForbidden(err) && wasForbidden:
		return // logged before
	case apierrors.IsForbidden(err):
		utilruntime.HandleErrorWithContext(ctx, err, "Params cannot be read: grant the user of this server the permissions to get, list and watch them")
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		klog.FromContext(ctx).V(2).Info("Params cannot be watched, looking whether their kind is still served", "err", err)
	default:
		cache.DefaultWatchErrorHandler(ctx, r, err)
		return
	}
	select {
	case k.recheck <- struct{}{}:
	default:
	}
}

// A reconciler adapts the informer of a kind to the served resource. Only one goroutine uses it.
type reconciler struct {
	*kind
	logger klog.Logger

	// running is set while an informer for resource runs, which cancel stops.
	running  bool
	resource Resource
	cancel   context.CancelFunc
	// lastError is the text of the last discovery's error, or empty if it had none.
	lastError string
	// started is the time of the first discovery.
	started time.Time
}

// reconcile discovers the kind, and starts, replaces or stops the informer. It returns the error of
// the discovery. A forbidden informer is replaced, because the delay before it tries again grows to
// a minute.
func (r *reconciler) reconcile(ctx context.Context) error {
	served, err := Resolve(ctx, r.discovery, r.gvk)
	if err == nil && (!r.running || served != r.resource || r.current.Load().refused()) {
		err = r.startInformer(ctx, served)
	}
	// While discovery itself fails, the kind may still be served, so the informer keeps running.
	if err != nil && (!r.running || NotServed(err)) {
		r.cancel()
		r.running = false
		s := &state{err: err}
		r.failed.Store(s)
		// The first discovery may fail because the server is starting.
		if NotServed(err) || time.Since(r.started) >= discoveryTimeout {
			r.publish(s)
		}
	}
	r.logChange(err)
	return err
}

func (r *reconciler) startInformer(ctx context.Context, served Resource) error {
	ctx, cancel := context.WithCancel(ctx)
	open := &watched{resource: served, client: r.client}
	if err := r.current.Load().forbidden(); err != nil {
		open.forbidden.Store(&err)
	}
	informer, err := newInformer(open, r.gvk, func(ctx context.Context, reflector *cache.Reflector, err error) {
		r.watchFailed(ctx, reflector, err, open.failed(err))
	})
	if err != nil {
		cancel()
		return err
	}
	lister, err := newLister(r.client, served, r.gvk, informer)
	if err != nil {
		cancel()
		return err
	}
	go informer.RunWithContext(ctx)
	r.publish(&state{lister: lister, watched: open})
	r.cancel()
	r.running, r.resource, r.cancel = true, served, cancel
	r.logger.V(2).Info("Following params", "resource", served.GroupVersionResource, "namespaced", served.Namespaced)
	return nil
}

// logChange logs an error unless the previous discovery had the same.
func (r *reconciler) logChange(err error) {
	current := ""
	if err != nil {
		current = err.Error()
	}
	if current != "" && current != r.lastError {
		r.logger.V(2).Info("Looking for the resource of params failed", "following", r.running, "err", err)
	}
	r.lastError = current
}

// NotServed reports whether an error of Resolve means that the server does not serve the kind.
func NotServed(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookupsource

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

const (
	// firstRetry is the time after which the discovery of a kind is repeated that failed, or that
	// did not find it. It doubles up to retryInterval.
	firstRetry, retryInterval = 50 * time.Millisecond, time.Second
	// verifyInterval is the time between discoveries of a kind that is served.
	verifyInterval = 10 * time.Second
	// stateTimeout is how long requests wait for the objects of a kind, and latestTimeout how long
	// they wait for the latest objects, as long as a watch cache waits for a revision.
	stateTimeout, latestTimeout = time.Second, 3 * time.Second
)

var (
	errNotListed  = errors.New("the objects are not known yet")
	errNotIndexed = errors.New("the index is not known yet")
)

// A kind follows the objects of one kind until stop is called.
type kind struct {
	gvk    schema.GroupVersionKind
	source *Source
	stop   context.CancelFunc
	// users is guarded by the lock of the source.
	users int

	lock sync.Mutex
	// indexes are the open indexes with the number of their users, by text.
	indexes map[string]*openIndex
	// followed is nil while no resource serves the kind, as far as is known. err is the reason.
	followed *store
	err      error
	// changed is closed, and replaced, when followed or err change, or the version of followed, or
	// when the keys of an index are computed.
	changed chan struct{}
}

type openIndex struct {
	lookups.Indexer
	// users is the number of handles, of which unclosed are not closed.
	users, unclosed int
	// fill computes the keys of the objects of followed. It is nil if it was called, or if nothing
	// was to compute.
	fill func()
}

func newKind(gvk schema.GroupVersionKind, s *Source, stop context.CancelFunc) *kind {
	return &kind{gvk: gvk, source: s, stop: stop, indexes: map[string]*openIndex{}, err: errNotListed, changed: make(chan struct{})}
}

func (k *kind) addIndex(index lookups.Indexer) {
	k.lock.Lock()
	defer k.lock.Unlock()
	open, ok := k.indexes[index.Text()]
	if !ok {
		open = &openIndex{Indexer: index}
		k.indexes[index.Text()] = open
		if k.followed != nil {
			open.fill = k.followed.objects.StartIndex(index)
		}
	}
	open.users++
	open.unclosed++
	if open.fill != nil {
		// Requests and changes of other policies do not wait for the keys of all objects.
		go k.fill(open)
	}
}

// fill computes the keys of an index when it is its turn, unless its handles are closed by then.
func (k *kind) fill(open *openIndex) {
	k.source.fills <- struct{}{}
	defer func() { <-k.source.fills }()
	k.lock.Lock()
	var fill func()
	if open.unclosed > 0 {
		fill, open.fill = open.fill, nil
	}
	k.lock.Unlock()
	if fill != nil {
		fill()
		k.notify()
	}
}

// closeIndex notes that the handle of an index was closed, which removeIndex releases later.
func (k *kind) closeIndex(text string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.indexes[text].unclosed--
}

func (k *kind) removeIndex(text string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	open := k.indexes[text]
	if open.users--; open.users > 0 {
		return
	}
	delete(k.indexes, text)
	if k.followed != nil {
		k.followed.objects.RemoveIndex(text)
	}
}

// current returns the present state if it has all indexes that are not closed, or the reason why
// there is none.
func (k *kind) current() (*lookups.State, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	var texts []string
	for text, open := range k.indexes {
		if open.unclosed > 0 {
			texts = append(texts, text)
		}
	}
	return k.stateWith(texts)
}

// read returns the present state if it has the given indexes. Otherwise it returns the reason, and a
// channel that is closed when that may have changed.
func (k *kind) read(indexes []string) (*lookups.State, <-chan struct{}, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	state, err := k.stateWith(indexes)
	return state, k.changed, err
}

// stateWith is read for a caller that holds the lock.
func (k *kind) stateWith(indexes []string) (*lookups.State, error) {
	if k.followed == nil {
		return nil, k.err
	}
	state := k.followed.objects.State()
	if state == nil {
		return nil, errNotListed
	}
	for _, text := range indexes {
		if !state.HasIndex(text) {
			return nil, errNotIndexed
		}
	}
	return state, nil
}

// await waits for up to a second for objects and indexes that are not known yet.
func (k *kind) await(ctx context.Context, indexes []string) (*lookups.State, error) {
	state, changed, err := k.read(indexes)
	if err == nil || paramsource.NotServed(err) {
		return state, err
	}
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, err
		}
		if state, changed, err = k.read(indexes); err == nil || paramsource.NotServed(err) {
			return state, err
		}
	}
}

// run adapts what is followed to the resource that serves the kind, until ctx ends.
func (k *kind) run(ctx context.Context) {
	if k.source.served != nil {
		select {
		case <-k.source.served:
		case <-ctx.Done():
			return
		}
	}
	var following paramsource.Resource
	cancel := func() {}
	defer func() { cancel() }()
	for retry := firstRetry; ; {
		served, err := paramsource.Resolve(ctx, k.source.discovery, k.gvk, "list", "watch")
		switch {
		case err == nil && served != following:
			cancel()
			following, cancel = served, k.follow(ctx, served)
		case err != nil && (following == paramsource.Resource{} || paramsource.NotServed(err)):
			cancel()
			following = paramsource.Resource{}
			k.publish(nil, err)
		}
		pause := verifyInterval
		if err != nil {
			pause, retry = retry, min(2*retry, retryInterval)
		} else {
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// follow starts to watch the objects of a resource, until ctx ends or the caller calls stop.
func (k *kind) follow(ctx context.Context, served paramsource.Resource) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	log := klog.FromContext(ctx).WithValues("resource", served.GroupVersionResource)
	objects := lookups.NewObjectCache(served.Namespaced, log)
	watched := k.source.stored(k.gvk)
	if watched == nil {
		watched = k.requests(served)
	}
	followed := &store{objects: objects, changed: k.notify}
	followed.storage, _ = watched.(RevisionedStorage)
	reflector := cache.NewReflectorWithOptions(watched, nil, followed, cache.ReflectorOptions{
		Name: "lookups", TypeDescription: served.GroupVersionResource.String(),
	})
	k.publish(followed, nil)
	go reflector.RunWithContext(klog.NewContext(ctx, log))
	log.V(2).Info("Following looked up objects")
	return cancel
}

// requests lists and watches a resource by requests.
func (k *kind) requests(served paramsource.Resource) cache.ListerWatcher {
	objects := k.source.client.Resource(served.GroupVersionResource)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return objects.Watch(ctx, options)
		},
	}, k.source.client)
}

// publish sets the store of the objects, or the reason why there is none.
func (k *kind) publish(followed *store, err error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	for text, open := range k.indexes {
		open.fill = nil
		if k.followed != nil {
			k.followed.objects.RemoveIndex(text) // which ends the computation of its keys
		}
		if followed != nil {
			followed.objects.AddIndex(open.Indexer)
		}
	}
	k.followed, k.err = followed, err
	k.wake()
}

func (k *kind) notify() {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.wake()
}

// wake ends the waiting of requests. The caller holds the lock.
func (k *kind) wake() {
	close(k.changed)
	k.changed = make(chan struct{})
}

// A store is the store of a reflector.
type store struct {
	objects *lookups.ObjectCache
	// storage is nil if the objects are read by requests.
	storage RevisionedStorage
	// version is a resource version of which objects has everything.
	version atomic.Uint64
	// changed is called after version has changed.
	changed func()
}

var (
	_ cache.ReflectorStore         = &store{}
	_ cache.ResourceVersionUpdater = &store{}
)

// UpdateResourceVersion implements cache.ResourceVersionUpdater. Reflectors call it after they have
// passed on an event, and with the versions of bookmarks.
func (s *store) UpdateResourceVersion(version string) {
	// Versions that are no numbers are those of other servers, which Latest does not read.
	if parsed, err := strconv.ParseUint(version, 10, 64); err == nil {
		s.version.Store(parsed)
	}
	s.changed()
}

// Add implements cache.ReflectorStore.
func (s *store) Add(object any) error { return s.Update(object) }

// Update implements cache.ReflectorStore.
func (s *store) Update(object any) error {
	o, ok := object.(runtime.Object)
	if !ok {
		return fmt.Errorf("%T is no object", object)
	}
	return s.objects.Set(o)
}

// Delete implements cache.ReflectorStore.
func (s *store) Delete(object any) error {
	o, ok := object.(runtime.Object)
	if !ok {
		return fmt.Errorf("%T is no object", object)
	}
	return s.objects.Delete(o)
}

// Replace implements cache.ReflectorStore.
func (s *store) Replace(list []any, version string) error {
	objects := make([]runtime.Object, len(list))
	for i, object := range list {
		var ok bool
		if objects[i], ok = object.(runtime.Object); !ok {
			return fmt.Errorf("%T is no object", object)
		}
	}
	if err := s.objects.Replace(objects); err != nil {
		return err
	}
	s.UpdateResourceVersion(version)
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store) Resync() error { return nil }

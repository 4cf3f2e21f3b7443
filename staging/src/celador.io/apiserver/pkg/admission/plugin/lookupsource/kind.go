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
	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

const (
	// firstRetry is the time after which discovery is repeated if it has failed, or if no resource
	// serves the kind. The time doubles with each repetition, up to retryInterval.
	firstRetry, retryInterval = 50 * time.Millisecond, time.Second
	// verifyInterval is the time between discoveries of a kind that is served.
	verifyInterval = 10 * time.Second
	// stateTimeout is how long a request waits until the objects of a kind are known. latestTimeout
	// is how long a request with consistency Latest waits for the latest objects; a watch cache
	// waits as long for a revision.
	stateTimeout, latestTimeout = time.Second, 3 * time.Second
	// maxFailing is how long requests still use the last known objects of a kind after reading them
	// has begun to fail. A restart of a server and late discovery take less time. Policies should
	// not decide by objects that were deleted or replaced long ago.
	maxFailing = 10 * time.Second
	// watchLives is the time after which an open watch counts as successful. A watch that ends
	// because an object cannot be read ends earlier.
	watchLives = time.Second
)

var (
	errNotListed  = errors.New("the objects are not known yet")
	errNotIndexed = errors.New("the index is not known yet")
	errWatchEnded = errors.New("the watch has ended")
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
	// failing is nil if followed gets all changes, as far as is known.
	failing *failure
	// changed is closed to wake waiting requests, and replaced, each time that what they wait for
	// may be there: the field followed, followed.version or the field err has changed, failing has
	// become nil, or the keys of an index are computed.
	changed chan struct{}
	// recheck gets an element when another resource may serve the kind.
	recheck chan struct{}
}

// A failure tells since when changes of objects that are known may be missing, and why. Immutable.
type failure struct {
	since time.Time
	cause error
}

type openIndex struct {
	lookups.Indexer
	// users is the number of handles, of which unclosed are not closed.
	users, unclosed int
	// fill computes the keys of the index for the objects that are known already. It is nil if it
	// was called, if no objects were followed when the index was opened, and after other objects
	// have taken their place, for which moveIndexes computes the keys.
	fill func()
}

func newKind(gvk schema.GroupVersionKind, s *Source, stop context.CancelFunc) *kind {
	return &kind{gvk: gvk, source: s, stop: stop, indexes: map[string]*openIndex{}, err: errNotListed, changed: make(chan struct{}), recheck: make(chan struct{}, 1)}
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

// current returns the present state, for Kinds. It returns an error with the reason if the objects
// are not known, or if the state lacks an index that has an open handle.
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

// read returns the present state if it has the given indexes. Otherwise it returns an error with
// the reason, and a channel that is closed when the caller should try again.
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
	if f := k.failing; f != nil && time.Since(f.since) > maxFailing {
		return nil, fmt.Errorf("the objects of %s cannot be read since %s: %w", k.gvk.Kind, f.since.UTC().Format(time.RFC3339), f.cause)
	}
	for _, text := range indexes {
		if !state.HasIndex(text) {
			return nil, errNotIndexed
		}
	}
	return state, nil
}

// failed notes that a store gets no changes at present.
func (k *kind) failed(followed *store, cause error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.followed != followed {
		return
	}
	since := time.Now()
	if k.failing != nil {
		since = k.failing.since
	}
	k.failing = &failure{since, cause}
}

// recovered notes that a store gets all changes. An outdated storage gets none, whatever it says.
func (k *kind) recovered(followed *store) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.failing != nil && k.followed == followed && !followed.isOutdated() {
		k.failing = nil
		k.wake()
	}
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
	f := following{stop: func() {}}
	defer func() {
		f.stop()
		policymetrics.ForgetLookupChanges(k.gvk)
	}()
	for pause := firstRetry; ; pause *= 2 {
		longest := verifyInterval
		if !k.reconcile(ctx, &f) {
			longest = retryInterval
		}
		pause = min(pause, longest)
		select {
		case <-ctx.Done():
			return
		case <-f.found.Outdated:
			pause = firstRetry / 2
		case <-k.recheck:
			// Discovery may be late, so that it is repeated soon.
			pause = firstRetry / 2
		case <-time.After(pause):
		}
	}
}

// following is what run follows at present: nothing, or the objects of a resource.
type following struct {
	resource paramsource.Resource
	found    Found
	stop     func()
}

// reconcile finds the resource that serves the kind now, and follows its objects unless f follows
// them already. It returns false if it cannot find out which resource that is, or if there is none.
func (k *kind) reconcile(ctx context.Context, f *following) bool {
	var found Found
	served, err := paramsource.Resolve(ctx, k.source.discovery, k.gvk, "list", "watch")
	if err == nil {
		found, err = k.source.find(ctx, k.gvk, served)
	}
	switch {
	case err != nil && (f.resource == paramsource.Resource{} || paramsource.NotServed(err)):
		f.stop()
		*f = following{stop: func() {}}
		k.publish(nil, err)
	case err == nil && (served != f.resource || found.Outdated != f.found.Outdated || (found.ListerWatcher == nil) != (f.found.ListerWatcher == nil)):
		f.stop()
		*f = following{served, found, k.follow(ctx, served, found)}
	case err != nil && k.followed.isOutdated():
		k.failed(k.followed, err)
		f.found.Outdated = nil // run waits before it tries again
	}
	return err == nil
}

// follow starts to watch the objects of a resource, until ctx ends or the caller calls stop, which
// waits for the end. If the same resource was followed before, requests use the objects that were
// known then until the new watch has listed them.
func (k *kind) follow(ctx context.Context, served paramsource.Resource, found Found) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	log := klog.FromContext(ctx).WithValues("resource", served.GroupVersionResource)
	watched := found.ListerWatcher
	if watched == nil {
		watched = k.requests(served)
	}
	followed := &store{resource: served, outdated: found.Outdated, changed: k.notify}
	followed.listed = func() { k.recovered(followed) }
	followed.observe = func(begin time.Time) { policymetrics.ObserveLookupChange(k.gvk, time.Since(begin)) }
	followed.storage, _ = watched.(RevisionedStorage)
	if before := k.followed; before != nil && before.resource == served {
		followed.objects = before.objects
	} else {
		followed.objects = lookups.NewObjectCache(served.Namespaced, log)
	}
	reflector := cache.NewReflectorWithOptions(k.observed(watched, followed), nil, followed, cache.ReflectorOptions{
		Name: "lookups", TypeDescription: served.GroupVersionResource.String(),
	})
	k.publish(followed, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		reflector.RunWithContext(klog.NewContext(ctx, log))
	}()
	log.V(2).Info("Following looked up objects")
	return func() {
		cancel()
		<-ended
	}
}

// requests lists and watches a resource by requests.
func (k *kind) requests(served paramsource.Resource) cache.ListerWatcher {
	objects := k.source.client.Resource(served.GroupVersionResource)
	var listed atomic.Bool
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if listed.Swap(true) {
				// The watch has failed, as it does if a CustomResourceDefinition is replaced.
				select {
				case k.recheck <- struct{}{}:
				default:
				}
			}
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return objects.Watch(ctx, options)
		},
	}, k.source.client)
}

// observed returns a ListerWatcher that lists and watches like watched, and reports to k when a
// list fails (failed), and when a watch fails or ends (failed) or lasts (recovered). followed is
// the store that it fills, which reports the lists that succeed.
func (k *kind) observed(watched cache.ListerWatcher, followed *store) cache.ListerWatcher {
	from := cache.ToListerWatcherWithContext(watched)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := from.ListWithContext(ctx, options)
			if err != nil {
				k.failed(followed, err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := from.WatchWithContext(ctx, options)
			if err != nil {
				k.failed(followed, err)
				return nil, err
			}
			lives := func() bool { return false }
			if options.SendInitialEvents == nil { // a watch with initial events is a list, too
				lives = time.AfterFunc(watchLives, func() { k.recovered(followed) }).Stop
			}
			return &observedWatch{w, sync.OnceFunc(func() {
				lives()
				k.failed(followed, errWatchEnded)
			})}, nil
		},
	}, watched)
}

// An observedWatch calls ended when it is stopped, as reflectors do with each watch that ends.
type observedWatch struct {
	watch.Interface
	ended func()
}

// Stop implements watch.Interface.
func (w *observedWatch) Stop() {
	w.ended()
	w.Interface.Stop()
}

// publish sets the store of the objects, or the reason why there is none.
func (k *kind) publish(followed *store, err error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if followed == nil || k.followed == nil || followed.objects != k.followed.objects {
		k.moveIndexes(followed)
		k.failing = nil
	}
	k.followed, k.err = followed, err
	k.wake()
}

// moveIndexes moves the open indexes from the objects that k has followed so far to the objects of
// another store. to is nil if k follows none any more. The caller holds the lock.
func (k *kind) moveIndexes(to *store) {
	for text, open := range k.indexes {
		open.fill = nil
		if k.followed != nil {
			k.followed.objects.RemoveIndex(text) // which ends the computation of its keys
		}
		if to != nil {
			to.objects.AddIndex(open.Indexer)
		}
	}
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
	resource paramsource.Resource
	objects  *lookups.ObjectCache
	// storage is nil if the objects are read by requests. It is closed some time after outdated.
	storage  RevisionedStorage
	outdated <-chan struct{}
	// version is a resource version of which objects has everything.
	version atomic.Uint64
	// changed is called after version has changed.
	changed func()
	// listed is called after a list has replaced the objects.
	listed func()
	// observe is called with the time at which a change was received, when lookups find it.
	observe func(begin time.Time)
}

var (
	_ cache.ReflectorStore         = &store{}
	_ cache.ResourceVersionUpdater = &store{}
)

// UpdateResourceVersion implements cache.ResourceVersionUpdater. Reflectors call it when the store
// has all changes up to a version: after an event, and at a bookmark. It wakes requests that wait
// for the latest objects.
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
	defer s.observe(time.Now())
	return s.objects.Set(o)
}

// Delete implements cache.ReflectorStore.
func (s *store) Delete(object any) error {
	o, ok := object.(runtime.Object)
	if !ok {
		return fmt.Errorf("%T is no object", object)
	}
	defer s.observe(time.Now())
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
	s.listed()
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store) Resync() error { return nil }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

const (
	// readinessInterval is the time between two checks whether a watch cache is ready, and maxWait
	// the time after which a list or watch returns an error, so that reflectors log it.
	readinessInterval, maxWait = 10 * time.Millisecond, 30 * time.Second
	// listTimeout bounds a list, as a server bounds requests.
	listTimeout = time.Minute
)

// A stored is the storage of a resource.
type stored struct {
	// storage has the watch cache. objects is the storage from which objects are read: storage
	// itself or, for a custom resource with conversion rules, one that converts the objects of
	// storage.
	storage, objects storage.Interface
	// cluster names the etcd cluster.
	cluster              string
	prefix               string
	keyFunc              func(runtime.Object) (string, error)
	newFunc, newListFunc func() runtime.Object
	// lastChange is the resource version of the last change of an object that the watch cache
	// received. LastChange returns it, to tell whether a reflector has seen all changes. It is set
	// before the watch cache stores the change, so it is never older than what a list returns.
	lastChange *atomic.Uint64
}

// A listerWatcher implements cache.ListerWatcherWithContext for one version of a kind.
type listerWatcher struct {
	*stored
	scheme *runtime.Scheme
	kind   schema.GroupVersionKind
}

// IsWatchListSemanticsUnSupported makes reflectors list objects before they watch them. A watch that
// begins with the present objects would copy each.
func (listerWatcher) IsWatchListSemanticsUnSupported() bool { return true }

// List implements cache.ListerWatcher.
func (l listerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), options)
}

// Watch implements cache.ListerWatcher.
func (l listerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWatcherWithContext. It lists the most recent objects,
// because a policy may decide about the first request after the server is ready.
func (l listerWatcher) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list := l.newListFunc()
	if err := l.objects.GetList(ctx, l.prefix, storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); err != nil {
		return nil, err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	result := &metainternalversion.List{ListMeta: metav1.ListMeta{ResourceVersion: accessor.GetResourceVersion()}}
	err = meta.EachListItem(list, func(object runtime.Object) error {
		converted, err := l.converted(object)
		result.Items = append(result.Items, converted)
		return err
	})
	return result, err
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (l listerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if err := l.ready(ctx); err != nil {
		return nil, err
	}
	predicate := storage.Everything
	predicate.AllowWatchBookmarks = options.AllowWatchBookmarks
	watched, err := l.objects.Watch(ctx, l.prefix, storage.ListOptions{ResourceVersion: options.ResourceVersion, Predicate: predicate, Recursive: true})
	if err != nil {
		return nil, err
	}
	return convertEvents(watched, func(event watch.Event) watch.Event { return l.event(ctx, event) }), nil
}

// convertEvents returns a watch of the converted events. Unlike watch.Filter, it ends after Stop
// even if nobody reads the next event.
func convertEvents(from watch.Interface, convert func(watch.Event) watch.Event) watch.Interface {
	events := make(chan watch.Event)
	converted := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer from.Stop()
		for {
			select {
			case <-converted.StopChan():
				return
			case event, open := <-from.ResultChan():
				if !open {
					return
				}
				select {
				case <-converted.StopChan():
					return
				case events <- convert(event):
				}
			}
		}
	}()
	return converted
}

// ready waits until the watch cache is ready, because lists are decoded from etcd until then, and
// would not share memory with the watch cache. It returns an error after maxWait.
func (l listerWatcher) ready(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, readinessInterval, maxWait, true, func(context.Context) (bool, error) {
		return l.storage.ReadinessCheck() == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the watch cache of %s: %w", l.prefix, context.Cause(ctx))
	default:
		return apierrors.NewTooManyRequests(fmt.Sprintf("the watch cache of %s is not ready", l.prefix), 1)
	}
}

// event returns an event of the storage with its object in the version of l, or an error event.
// Bookmarks and errors stay as they are.
func (l listerWatcher) event(ctx context.Context, event watch.Event) watch.Event {
	var err error
	switch event.Type {
	case watch.Added, watch.Modified:
		event.Object, err = l.shared(ctx, event.Object)
	case watch.Deleted:
		event.Object, err = l.converted(owned(event.Object))
	}
	if err != nil {
		return watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(err).ErrStatus}
	}
	return event
}

// shared returns the object of an event in the version of l. The storage copies the object for each
// watch, so shared reads it from the watch cache, which has the same object unless it has changed
// again.
func (l listerWatcher) shared(ctx context.Context, object runtime.Object) (runtime.Object, error) {
	key, err := l.keyFunc(object)
	if err != nil {
		return nil, err
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	version := accessor.GetResourceVersion()
	cached := l.newFunc()
	if err := l.objects.Get(ctx, key, storage.GetOptions{ResourceVersion: version, IgnoreNotFound: true}, cached); err == nil {
		if present, err := meta.Accessor(cached); err == nil && present.GetResourceVersion() == version {
			return l.converted(cached)
		}
	}
	return l.converted(owned(object))
}

// owned returns the object of an event, which may be encoded for several watches at once.
func owned(object runtime.Object) runtime.Object {
	if cached, ok := object.(runtime.CacheableObject); ok {
		return cached.GetObject()
	}
	return object
}

// converted returns an object in the version of l. It shares memory with the given object.
func (l listerWatcher) converted(object runtime.Object) (runtime.Object, error) {
	if custom, ok := object.(*unstructured.Unstructured); ok {
		// The object is in the version of l already. It gets a new struct, because the struct of a
		// list item is part of the list, and would keep all of the list in memory.
		return &unstructured.Unstructured{Object: custom.Object}, nil
	}
	converted, err := l.scheme.New(l.kind)
	if err != nil {
		return nil, err
	}
	if err := l.scheme.Convert(object, converted, nil); err != nil {
		return nil, err
	}
	converted.GetObjectKind().SetGroupVersionKind(l.kind)
	return converted, nil
}

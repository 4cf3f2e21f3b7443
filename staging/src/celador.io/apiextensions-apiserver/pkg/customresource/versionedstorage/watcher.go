// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package versionedstorage

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// watcher converts the events of a watch of the shared storage.
type watcher struct {
	ctx     context.Context
	source  watch.Interface
	storage *VersionStorage
	events  chan watch.Event
	stop    sync.Once
	done    chan struct{}
}

func newWatcher(ctx context.Context, source watch.Interface, storage *VersionStorage) *watcher {
	// The events wait in the buffer of the watch cache, which also ends slow watches, so this
	// channel needs no buffer.
	w := &watcher{ctx: ctx, source: source, storage: storage, events: make(chan watch.Event), done: make(chan struct{})}
	go w.run()
	return w
}

// ResultChan implements watch.Interface.
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *watcher) Stop() {
	w.stop.Do(func() {
		close(w.done)
		w.source.Stop()
	})
}

func (w *watcher) run() {
	defer close(w.events)
	defer w.Stop()
	for event := range w.source.ResultChan() {
		object, err := w.convert(event)
		if err != nil {
			event.Type, object = watch.Error, err
		}
		event.Object = object
		select {
		case w.events <- event:
		case <-w.done:
			return
		}
		if err != nil {
			return
		}
	}
}

// convert returns the converted object of an event, or the status with which the watch ends.
func (w *watcher) convert(event watch.Event) (runtime.Object, *metav1.Status) {
	if event.Type == watch.Error {
		return event.Object, nil
	}
	if event.Object.GetObjectKind().GroupVersionKind().GroupVersion() == w.storage.served.GroupVersion() {
		// The event's object itself is sent: it caches its encoding for all watches that send it.
		return event.Object, nil
	}
	if accessor, err := meta.Accessor(event.Object); err == nil && (event.Type == watch.Added || event.Type == watch.Modified) {
		if found := w.storage.converted.get(accessor.GetUID(), accessor.GetResourceVersion()); found != nil {
			return found, nil
		}
	}
	in, ok := CustomResource(event.Object)
	if !ok {
		return event.Object, nil
	}
	var out *unstructured.Unstructured
	var err error
	switch event.Type {
	case watch.Bookmark:
		bookmark := newObject(w.storage.served)
		bookmark.Object["metadata"] = in.Object["metadata"]
		return bookmark, nil
	case watch.Deleted:
		// If an update takes an object out of the selection, the Deleted event has the object
		// before the update with the resource version of the update. No other read asks for this
		// state, so it is not kept.
		out, _, err = w.storage.convertUnkept(w.ctx, in)
	default:
		out, err = w.storage.convertRead(w.ctx, in)
	}
	if err != nil {
		failed := unreadable{resource: w.storage.shared.Resource}
		failed.add(w.storage.keyOf(in), err)
		status := failed.status().Status()
		return nil, &status
	}
	return out, nil
}

// CustomResource returns the custom resource of a watch event. The watch cache wraps objects to
// cache their encodings.
func CustomResource(object runtime.Object) (*unstructured.Unstructured, bool) {
	if cacheable, ok := object.(runtime.CacheableObject); ok {
		object = cacheable.GetObject()
	}
	u, ok := object.(*unstructured.Unstructured)
	return u, ok
}

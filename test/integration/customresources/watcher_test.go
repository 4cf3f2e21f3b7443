// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// watchStatistics counts how often the server ended watches, how often it sent events after a
// resource version at which an earlier watch had ended, and how often that version was too old.
type watchStatistics struct {
	Ended, Resumed, Expired, Events int
}

func (s *watchStatistics) add(other watchStatistics) {
	s.Ended += other.Ended
	s.Resumed += other.Resumed
	s.Expired += other.Expired
	s.Events += other.Events
}

// A watcher follows object "used" until its deletion, and checks that it sees each change.
type watcher struct {
	watchStatistics
	client dynamic.ResourceInterface
	// resourceVersion is that of the latest event or list.
	resourceVersion string
	// counter is that of the object at that resource version.
	counter int64
	// done is whether the object is deleted.
	done bool
}

func (w *watcher) run(ctx context.Context) error {
	if err := w.list(ctx); err != nil {
		return err
	}
	for resumed := false; !w.done; {
		// Without a time limit the server ends the watch only for a reason.
		events, err := w.client.Watch(ctx, metav1.ListOptions{ResourceVersion: w.resourceVersion})
		if err == nil {
			before := w.Events
			err = w.follow(ctx, events)
			events.Stop()
			if resumed && w.Events > before {
				w.Resumed++
			}
		}
		switch {
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			w.Expired++
			resumed = false
			if err := w.list(ctx); err != nil {
				return err
			}
		case err != nil:
			return fmt.Errorf("%w, after %+v", err, w.watchStatistics)
		case !w.done:
			w.Ended++
			resumed = true
		}
	}
	return nil
}

// follow handles events until the server ends the watch or the object is deleted.
func (w *watcher) follow(ctx context.Context, events watch.Interface) error {
	for !w.done {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case event, open := <-events.ResultChan():
			if !open {
				return nil
			}
			if err := w.handle(event); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *watcher) handle(event watch.Event) error {
	if event.Type == watch.Error {
		return apierrors.FromObject(event.Object)
	}
	object, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("got event %v", event)
	}
	w.Events++
	w.resourceVersion = object.GetResourceVersion()
	if object.GetName() != "used" {
		return nil
	}
	switch event.Type {
	case watch.Modified:
		if got := counter(object); got != w.counter+1 {
			return fmt.Errorf("got counter %d, want %d", got, w.counter+1)
		}
		w.counter++
	case watch.Deleted:
		if got := counter(object); got != w.counter {
			return fmt.Errorf("got deleted with counter %d, want %d", got, w.counter)
		}
		w.done = true
	default:
		return fmt.Errorf("got event %v", event)
	}
	return nil
}

// list continues with the current objects.
func (w *watcher) list(ctx context.Context) error {
	objects, err := w.client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	w.resourceVersion = objects.GetResourceVersion()
	w.done = true
	for i := range objects.Items {
		if object := &objects.Items[i]; object.GetName() == "used" {
			if got := counter(object); got < w.counter {
				return fmt.Errorf("list: got counter %d, want at least %d", got, w.counter)
			}
			w.done, w.counter = false, counter(object)
		}
	}
	return nil
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localclient

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic/registry"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

const (
	// readinessInterval is the time between two checks whether a store is ready, and maxWait the
	// time after which List and Watch return an error, so that informers log it.
	readinessInterval, maxWait = 10 * time.Millisecond, 30 * time.Second
	// listTimeout bounds a list, as a server bounds requests.
	listTimeout = time.Minute
)

// RegistryStores holds the stores of the API group that the server has opened. The zero value holds
// none. Safe for concurrent use.
type RegistryStores struct {
	// byResource maps the name of a resource to its *registry.Store.
	byResource sync.Map
	// watched maps the name of a resource to its *watches.
	watched sync.Map
}

// Add adds the store of a resource, or replaces it.
func (s *RegistryStores) Add(resource string, store *registry.Store) {
	s.byResource.Store(resource, store)
}

// A resource is one of the resources of the API group, read in v1 from its store.
type resource struct {
	stores *RegistryStores
	name   string
	// newObject returns an empty v1 object.
	newObject func() runtime.Object
}

// ready returns the store of the resource once its watch cache, if there is one, holds the
// resource. It returns a NotFound error if the server does not serve the resource, a
// TooManyRequests error if the watch cache is not ready in time, and the cause of ctx if ctx ends
// first.
func (r resource) ready(ctx context.Context) (*registry.Store, error) {
	store, served := r.stores.byResource.Load(r.name)
	if !served {
		return nil, apierrors.NewNotFound(admissionregistration.Resource(r.name), "")
	}
	opened := store.(*registry.Store)
	err := wait.PollUntilContextTimeout(ctx, readinessInterval, maxWait, true, func(context.Context) (bool, error) {
		return opened.ReadinessCheck() == nil, nil
	})
	switch {
	case err == nil:
		return opened, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("waiting for the watch cache of %s: %w", r.name, context.Cause(ctx))
	default:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("the watch cache of %s is not ready", r.name), 1)
	}
}

// list fills result, a v1 list, with the stored objects. Its items may share memory with the watch
// cache.
func (r resource) list(ctx context.Context, options metav1.ListOptions, result runtime.Object) error {
	store, err := r.ready(ctx)
	if err != nil {
		return err
	}
	internal, err := internalOptions(options)
	if err != nil {
		return err
	}
	// A list with a limit would be read from etcd, and so would not share memory with the watch
	// cache.
	internal.Limit = 0
	// An informer first lists at any version. The watch cache may lag behind etcd then, and a
	// server must not be ready without a policy that exists already. So the list is of the most
	// recent version.
	if internal.ResourceVersion == "0" {
		internal.ResourceVersion, internal.ResourceVersionMatch = "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	stored, err := store.List(ctx, internal)
	if err != nil {
		return err
	}
	return scheme.Scheme.Convert(stored, result, nil)
}

// watch returns a watch whose events have v1 objects. The watch does not end by itself: it ignores
// the timeout of options.
func (r resource) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	store, err := r.ready(ctx)
	if err != nil {
		return nil, err
	}
	internal, err := internalOptions(options)
	if err != nil {
		return nil, err
	}
	stored, err := store.Watch(ctx, internal)
	if err != nil {
		return nil, err
	}
	// The events are sent by a goroutine here, because watch.Filter would not end after Stop while
	// nobody reads the next event.
	events := make(chan watch.Event)
	converted := watch.NewProxyWatcher(events)
	watches := r.stores.watches(r.name)
	began := watches.begin(options.ResourceVersion)
	go func() {
		defer close(events)
		defer watches.end(began) // before events are closed
		defer stored.Stop()
		for {
			select {
			case <-converted.StopChan():
				return
			case event, open := <-stored.ResultChan():
				if !open {
					return
				}
				event = r.externalEvent(event)
				sent := began.deliver(event, func() bool {
					select {
					case <-converted.StopChan():
						return false
					case events <- event:
						return true
					}
				})
				if !sent || event.Type == watch.Error {
					return
				}
			}
		}
	}()
	return converted, nil
}

// externalEvent returns an event of a store with its object in v1, or an error event if the object
// cannot be converted.
func (r resource) externalEvent(event watch.Event) watch.Event {
	if event.Type == watch.Error { // a Status
		return event
	}
	if cached, ok := event.Object.(runtime.CacheableObject); ok { // shared with other watches
		event.Object = cached.GetObject()
	}
	object := r.newObject()
	if err := scheme.Scheme.Convert(event.Object, object, nil); err != nil {
		return watch.Event{Type: watch.Error, Object: &apierrors.NewInternalError(err).ErrStatus}
	}
	event.Object = object
	return event
}

func internalOptions(options metav1.ListOptions) (*metainternalversion.ListOptions, error) {
	internal := &metainternalversion.ListOptions{}
	if err := metainternalversion.Convert_v1_ListOptions_To_internalversion_ListOptions(&options, internal, nil); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return internal, nil
}

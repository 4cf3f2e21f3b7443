// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// watchGrace is how long an outdated ServedResource stays open at least. Watches do not acquire a
// ServedResource, so a watch that has just found it needs this time to start.
const watchGrace = time.Second

var (
	errDeleted = errors.New("the CustomResourceDefinition has been deleted")
	errStopped = errors.New("the storage of custom resources is closed, because the server has stopped")
)

// resources holds, for each CustomResourceDefinition, the serving.ServedResource that handles the
// requests for its custom resources. The first request builds it, under the lock of this
// CustomResourceDefinition, and so does the first request after the spec or the accepted names have
// changed.
type resources struct {
	lister      listers.CustomResourceDefinitionLister
	expressions expressionsOf
	build       func(context.Context, *apiextensionsv1.CustomResourceDefinition, *apiextensions.ExpressionFields) (*serving.ServedResource, error)
	// drainTimeout limits how long an outdated ServedResource stays open for its requests.
	drainTimeout time.Duration

	slots sync.Map // types.UID to *slot

	stopOnce sync.Once
	stopped  chan struct{}
}

// expressionsOf finds the expressions of a CustomResourceDefinition that the lister has returned.
// It returns the same pointer for objects of one generation with equal expressions, so that
// comparing pointers shows whether a ServedResource has outdated expressions.
// *crdinformer.ExpressionCache implements it.
type expressionsOf interface {
	Of(*apiextensionsv1.CustomResourceDefinition) *apiextensions.ExpressionFields
}

// A slot holds the ServedResource that serves one CustomResourceDefinition now, or nil. Changes
// hold mu; readers need only load current.
type slot struct {
	mu      sync.Mutex
	current atomic.Pointer[serving.ServedResource]
}

// get returns the ServedResource of a CustomResourceDefinition that the lister has returned. The
// ServedResource serves this version of it or a newer one. get compares specs, since the informer
// updates its cache before it calls event handlers: a ServedResource may be outdated although no
// event has arrived yet (https://github.com/kubernetes/kubernetes/issues/130235). get returns
// errDeleted if the CustomResourceDefinition has been deleted or replaced since, and errStopped
// after destroy.
func (r *resources) get(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (*serving.ServedResource, error) {
	if value, ok := r.slots.Load(crd.UID); ok {
		if resource := value.(*slot).current.Load(); resource != nil && resource.Current(crd, r.expressions.Of) {
			return resource, nil
		}
	}

	s := r.lock(crd.UID)
	defer s.mu.Unlock()
	// A ServedResource that is built after destroy would never be closed: destroy has looked at
	// this slot already, or before it was added.
	if r.hasStopped() {
		return nil, errStopped
	}
	// Only the newest CustomResourceDefinition may be built. Otherwise a request that was delayed
	// between reading it and taking the lock would bring an old one back.
	latest, err := r.lister.Get(crd.Name)
	if apierrors.IsNotFound(err) || err == nil && latest.UID != crd.UID {
		r.empty(crd.UID, s)
		return nil, errDeleted
	}
	if err != nil {
		return nil, err
	}
	if resource := s.current.Load(); resource != nil {
		if resource.Current(latest, r.expressions.Of) {
			return resource, nil
		}
		r.retire(s)
	}
	resource, err := r.build(ctx, latest, r.expressions.Of(latest))
	if err != nil {
		return nil, err
	}
	s.current.Store(resource)
	return resource, nil
}

// lock returns the slot of a CustomResourceDefinition, locked. It adds the slot if there is none,
// and also if the slot was removed while lock waited for it: nothing would retire a ServedResource
// in a removed slot.
func (r *resources) lock(uid types.UID) *slot {
	for {
		value, _ := r.slots.LoadOrStore(uid, &slot{})
		s := value.(*slot)
		s.mu.Lock()
		if current, ok := r.slots.Load(uid); ok && current == value {
			return s
		}
		s.mu.Unlock()
	}
}

// update retires the ServedResource of the CustomResourceDefinition if it is outdated, so that its
// watches end and clients resume them with the new one.
func (r *resources) update(crd *apiextensionsv1.CustomResourceDefinition) {
	r.withSlot(crd.UID, func(s *slot) {
		// The event may be older than the ServedResource that a request has built, so the newest
		// CustomResourceDefinition is compared.
		latest, err := r.lister.Get(crd.Name)
		if err != nil || latest.UID != crd.UID {
			latest = crd
		}
		if resource := s.current.Load(); resource != nil && !resource.Current(latest, r.expressions.Of) {
			r.retire(s)
		}
	})
}

// remove retires the ServedResource of a deleted CustomResourceDefinition.
func (r *resources) remove(uid types.UID) {
	r.withSlot(uid, func(s *slot) { r.empty(uid, s) })
}

// withSlot locks the slot of a CustomResourceDefinition and calls change with it, so that change
// can replace or remove the ServedResource. It does nothing if the CustomResourceDefinition has no
// slot.
func (r *resources) withSlot(uid types.UID, change func(*slot)) {
	value, ok := r.slots.Load(uid)
	if !ok {
		return
	}
	s := value.(*slot)
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// empty retires the ServedResource of a slot, whose lock the caller holds, and removes the slot.
func (r *resources) empty(uid types.UID, s *slot) {
	r.retire(s)
	r.slots.CompareAndDelete(uid, s)
}

// retire takes the ServedResource out of the slot, so that no further request gets it. A goroutine
// destroys the ServedResource as soon as watchGrace has passed and its requests have ended. It
// waits for requests no longer than drainTimeout, and for nothing once the server stops.
func (r *resources) retire(s *slot) {
	resource := s.current.Swap(nil)
	if resource == nil {
		return
	}
	resource.Retire()
	go func() {
		defer resource.Destroy()
		select {
		case <-time.After(watchGrace):
		case <-r.stopped:
			return
		}
		if err := resource.Drain(r.drainTimeout, r.stopped); err != nil {
			klog.Background().Info("Closing the storage of custom resources during requests", "customResourceDefinition", resource.Name(), "err", err)
		}
	}()
}

// destroy destroys all ServedResources when the server stops. It waits for builds, but not for
// requests. ServedResources are not built afterwards.
func (r *resources) destroy() {
	r.stopOnce.Do(func() { close(r.stopped) })
	r.slots.Range(func(_, value any) bool {
		s := value.(*slot)
		s.mu.Lock()
		defer s.mu.Unlock()
		if resource := s.current.Load(); resource != nil {
			resource.Destroy()
		}
		return true
	})
}

func (r *resources) hasStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

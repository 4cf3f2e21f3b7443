// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/compact"

	"celador.io/celador/plugin/pkg/admission/policymetrics"
)

// Store is a store of the policies P and bindings B of one kind.
type Store[P, B metav1.Object] interface {
	PolicyStore[P]
	SetBinding(B)
	DeleteBinding(name string)
}

// A PolicyStore is the part of a Store that holds the policies.
type PolicyStore[P metav1.Object] interface {
	// Compile compiles a policy. put adds the policy or replaces the policy with the same name, and takes
	// little time.
	Compile(P) (put func())
	DeletePolicy(name string)
}

// Follow keeps a store up to date with the policies and bindings of informers until ctx ends.
// Bindings and deletions take effect with their events. New and changed policies take effect
// when they are compiled, in other goroutines. Follow returns a function that reports whether
// the store holds everything that existed when the informers started.
func Follow[P policyObject, B metav1.Object](ctx context.Context, store Store[P, B], policies, bindings cache.SharedIndexInformer, metrics policymetrics.Metrics) (func() bool, error) {
	compactor := compact.New()
	if err := errors.Join(policies.SetTransform(compactor.Transform), bindings.SetTransform(compactor.Transform)); err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	compilations := newCompilations(store, metrics)
	policiesSynced, err := handle(policies, compilations.add, compilations.update, compilations.remove)
	if err != nil {
		return nil, err
	}
	timed := func(change func()) {
		start := time.Now()
		change()
		metrics.ObserveBuild(time.Since(start))
	}
	bindingsSynced, err := handle(bindings,
		func(added B, _ bool) { timed(func() { store.SetBinding(added) }) },
		func(old, current B) {
			if old.GetResourceVersion() != current.GetResourceVersion() { // not a resync
				timed(func() { store.SetBinding(current) })
			}
		},
		func(name string) { timed(func() { store.DeleteBinding(name) }) })
	if err != nil {
		return nil, err
	}
	go compilations.run(ctx)
	return func() bool {
		if !policiesSynced() || !bindingsSynced() {
			return false
		}
		compilations.initial.UpstreamHasSynced()
		return compilations.initial.HasSynced()
	}, nil
}

// handle registers callbacks for the events of an informer.
func handle[T metav1.Object](informer cache.SharedIndexInformer, add func(added T, inInitialList bool), update func(old, current T), remove func(name string)) (cache.InformerSynced, error) {
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(object any, inInitialList bool) { add(object.(T), inInitialList) },
		UpdateFunc: func(old, current any) { update(old.(T), current.(T)) },
		DeleteFunc: func(object any) {
			name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if err != nil {
				utilruntime.HandleError(fmt.Errorf("deletion of a policy or binding: %w", err))
				return
			}
			remove(name)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	return registration.HasSynced, nil
}

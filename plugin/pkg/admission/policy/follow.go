// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/celador/plugin/pkg/admission/policymetrics"
)

// Store is what a kind's engine keeps policies P and bindings B in.
type Store[P, B metav1.Object] interface {
	SetPolicy(P)
	DeletePolicy(name string)
	SetBinding(B)
	DeleteBinding(name string)
}

// Follow keeps a store up to date with what informers see, event by event. It returns a
// function that says whether the store has everything that existed when the informers
// started.
func Follow[P, B metav1.Object](store Store[P, B], policies, bindings cache.SharedIndexInformer, metrics policymetrics.Metrics) (func() bool, error) {
	compact := newCompactor().transform
	if err := errors.Join(policies.SetTransform(compact), bindings.SetTransform(compact)); err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	removePolicy := func(name string) {
		store.DeletePolicy(name)
		metrics.Forget(name)
	}
	policiesSynced, err := handle(policies, metrics, store.SetPolicy, removePolicy,
		func(old, current P) bool {
			return old.GetGeneration() == current.GetGeneration() && old.GetUID() == current.GetUID()
		})
	if err != nil {
		return nil, err
	}
	bindingsSynced, err := handle(bindings, metrics, store.SetBinding, store.DeleteBinding,
		func(old, current B) bool { return old.GetResourceVersion() == current.GetResourceVersion() })
	if err != nil {
		return nil, err
	}
	return func() bool { return policiesSynced() && bindingsSynced() }, nil
}

// handle passes on what an informer sees, except updates that change nothing of
// interest: resyncs, and status writes of policies.
func handle[T metav1.Object](informer cache.SharedIndexInformer, metrics policymetrics.Metrics, set func(T), remove func(name string), same func(old, current T) bool) (cache.InformerSynced, error) {
	timed := func(change func()) {
		start := time.Now()
		change()
		metrics.ObserveBuild(time.Since(start))
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { timed(func() { set(object.(T)) }) },
		UpdateFunc: func(old, current any) {
			if !same(old.(T), current.(T)) {
				timed(func() { set(current.(T)) })
			}
		},
		DeleteFunc: func(object any) {
			name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if err != nil {
				utilruntime.HandleError(fmt.Errorf("deletion of a policy or binding: %w", err))
				return
			}
			timed(func() { remove(name) })
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	return registration.HasSynced, nil
}

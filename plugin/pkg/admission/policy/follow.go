// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/compact"
	"celador.io/admission/policy"

	"celador.io/celador/plugin/pkg/admission/policymetrics"
)

// Store is a store of the policies P and bindings B of one kind. policy.Store documents the methods.
type Store[P, B metav1.Object] interface {
	PolicyStore[P]
	CompileBinding(B) *policy.CachedBinding
	PutBinding(*policy.CachedBinding)
	DeleteBinding(name string)
	Hold() (release func())
	CompileAll(context.Context)
}

// A PolicyStore is the part of a Store that holds the policies.
type PolicyStore[P metav1.Object] interface {
	// Compile compiles a policy. put adds the policy or replaces the policy with the same name, and takes
	// little time.
	Compile(P) (put func())
	// SetUncompiled adds or replaces a policy that is compiled when it is needed, and takes little time.
	SetUncompiled(P)
	// Evaluated reports whether requests evaluate the policy with the name.
	Evaluated(name string) bool
	DeletePolicy(name string)
}

// compileInterval is the time between two compilations of the policies that took effect uncompiled.
const compileInterval = 10 * time.Second

// Follow keeps a store up to date with the policies and bindings of informers until ctx ends.
// Bindings and deletions take effect with their events. New policies, and changed ones that requests have
// evaluated, take effect when they are compiled, in other goroutines. Follow returns a function that reports
// whether the store holds everything that existed when the informers started.
//
// Policies that existed at the start, and changed ones that no request has evaluated, take effect at once, and
// a request that evaluates such a policy compiles it first. One goroutine compiles the others at intervals, so
// that most requests need not wait. A server with 10,000 policies is therefore ready as soon as it has read
// them, and other processors are free for requests.
//
// sameSpec reports whether two policies have equal specs.
//
// The informer of policies may be shared with others that read what compact.Compactor keeps. That of bindings
// belongs to the store, because it caches policy.CachedBinding: take the one of CompiledBindings.
func Follow[P policyObject, B metav1.Object](ctx context.Context, store Store[P, B], policies, bindings cache.SharedIndexInformer, sameSpec func(a, b P) bool, metrics policymetrics.Metrics) (func() bool, error) {
	compactor := compact.New()
	compile := func(object any) (any, error) {
		if binding, ok := object.(B); ok {
			compactor.Transform(binding)
			return store.CompileBinding(binding), nil
		}
		return object, nil // compiled already
	}
	if err := errors.Join(policies.SetTransform(compactor.Transform), bindings.SetTransform(compile)); err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	timed := func(change func()) {
		start := time.Now()
		change()
		metrics.ObserveBuild(time.Since(start))
	}
	release := store.Hold()
	compilations := newCompilations(store, sameSpec, metrics)
	policiesSynced, err := handle(policies,
		func(added P, inInitialList bool) {
			if inInitialList {
				timed(func() { store.SetUncompiled(added) })
			} else {
				compilations.add(added)
			}
		},
		compilations.update, compilations.remove)
	if err != nil {
		return nil, err
	}
	bindingsSynced, err := handle(bindings,
		func(added *policy.CachedBinding, _ bool) { timed(func() { store.PutBinding(added) }) },
		func(old, current *policy.CachedBinding) {
			if old.GetObjectMeta().GetResourceVersion() != current.GetObjectMeta().GetResourceVersion() { // not listed again
				timed(func() { store.PutBinding(current) })
			}
		},
		func(name string) { timed(func() { store.DeleteBinding(name) }) })
	if err != nil {
		return nil, err
	}
	go compilations.run(ctx)
	var synced atomic.Bool
	go func() {
		if !cache.WaitFor(ctx, "", policiesSynced, bindingsSynced) {
			return
		}
		release()
		synced.Store(true)
		wait.UntilWithContext(ctx, store.CompileAll, compileInterval)
	}()
	return synced.Load, nil
}

// handle registers callbacks for the events of an informer. The result is done when add has been called for
// everything that existed when the informer started.
func handle[T any](informer cache.SharedIndexInformer, add func(added T, inInitialList bool), update func(old, current T), remove func(name string)) (cache.DoneChecker, error) {
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
	return registration.HasSyncedChecker(), nil
}

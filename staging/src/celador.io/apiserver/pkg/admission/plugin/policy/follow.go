// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/compact"
	"celador.io/admission/policy"

	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

// Store is a store of the policies and bindings of one kind. policy.Store documents the
// methods.
type Store[Policy metav1.Object] interface {
	policyStore[Policy]
	BindingStore
	Hold() (release func())
	CompileAll(context.Context)
}

// policyStore is the part of a Store that holds the policies.
type policyStore[Policy metav1.Object] interface {
	// Compile compiles a policy. put adds the policy or replaces the policy with the same name, and
	// takes little time.
	Compile(Policy) (put func())
	// SetUncompiled adds or replaces a policy that is compiled when it is needed, and takes little
	// time.
	SetUncompiled(Policy)
	// Evaluated reports whether requests evaluate the policy with the name.
	Evaluated(name string) bool
	DeletePolicy(name string)
}

// compileInterval is how often policies are compiled that took effect before they were compiled.
const compileInterval = 10 * time.Second

// Follow keeps a store up to date with policies and bindings until ctx ends. It lists and watches
// the bindings once it knows the policies that existed when their informer started.
//
// Bindings and deletions take effect with their events. New policies, and changed ones that
// requests have evaluated, take effect after other goroutines have compiled them. Policies that
// existed at the start, and changed ones that no request has evaluated, take effect at once. A
// request that evaluates one of these compiles it first; another goroutine compiles the rest from
// time to time, so that few requests wait. So a server with 10,000 policies is ready as soon as it
// has read them, and its processors are free for requests.
//
// sameSpec reports whether two policies have equal specs. The informer of policies may be shared
// with others that need no more than compact.Compactor keeps.
func Follow[Policy policyObject, Binding policy.APIObject](ctx context.Context, store Store[Policy], policies cache.SharedIndexInformer, bindings cache.ListerWatcher, sameSpec func(a, b Policy) bool, metrics policymetrics.Metrics) (*Followed, error) {
	compactor := compact.New()
	if err := policies.SetTransform(compactor.Transform); err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	release := store.Hold()
	compilations := newCompilations(store, sameSpec, metrics)
	policiesSynced, err := addHandler(policies, compilations)
	if err != nil {
		return nil, err
	}
	bound := newReflectorStore[Binding](store, compactor, metrics)
	var none Binding
	followed := &Followed{bindings: cache.NewReflectorWithOptions(bindings, none, bound, cache.ReflectorOptions{Name: "bindings of " + metrics.Kind()})}
	go compilations.run(ctx)
	go func() {
		if cache.WaitFor(ctx, "", policiesSynced) {
			followed.bindings.RunWithContext(ctx)
		}
	}()
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-bound.listed:
		}
		release()
		followed.synced.Store(true)
		wait.UntilWithContext(ctx, store.CompileAll, compileInterval)
	}()
	return followed, nil
}

// A Followed tells which changes in the API the store of Follow has seen. It is safe for concurrent
// use.
type Followed struct {
	synced   atomic.Bool
	bindings *cache.Reflector
}

// Synced reports whether the store holds all policies and bindings that existed at the start.
func (f *Followed) Synced() bool { return f.synced.Load() }

// BindingsVersion returns the resource version of the bindings that the store has seen.
func (f *Followed) BindingsVersion() string { return f.bindings.LastSyncResourceVersion() }

// addHandler passes the events of an informer to compilations. The returned checker is done when
// compilations has got all policies that existed when the informer started.
func addHandler[Policy policyObject](informer cache.SharedIndexInformer, compilations *compilations[Policy]) (cache.DoneChecker, error) {
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, inInitialList bool) {
			if inInitialList {
				compilations.addUncompiled(object.(Policy))
			} else {
				compilations.add(object.(Policy))
			}
		},
		UpdateFunc: func(old, current any) { compilations.update(old.(Policy), current.(Policy)) },
		DeleteFunc: func(object any) {
			name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if err != nil {
				utilruntime.HandleError(fmt.Errorf("deletion of a policy: %w", err))
				return
			}
			compilations.remove(name)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	return registration.HasSyncedChecker(), nil
}

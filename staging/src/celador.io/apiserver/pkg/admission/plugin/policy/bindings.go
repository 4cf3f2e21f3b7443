// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/compact"
	"celador.io/admission/policy"
	"celador.io/client-go/clientset"

	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

// ListerWatcher returns a lister and watcher for a reflector, from the List and Watch methods of a
// typed client.
func ListerWatcher[L runtime.Object](client clientset.Interface, list func(context.Context, metav1.ListOptions) (L, error), watcher func(context.Context, metav1.ListOptions) (watch.Interface, error)) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return list(ctx, options)
		},
		WatchFuncWithContext: watcher,
	}, client)
}

// A BindingStore is the part of a Store that holds the bindings.
type BindingStore interface {
	Set(...runtime.Object) error
	DeleteBinding(name string)
}

// reflectorStore is the store of a reflector of bindings. It passes bindings on to a Store, which
// keeps them compiled, in a tenth of the memory of the API objects. A cluster may have a hundred
// thousand bindings, so no informer caches them in addition. Its methods are called by one
// goroutine.
type reflectorStore[Binding policy.APIObject] struct {
	store     BindingStore
	compactor *compact.Compactor
	metrics   policymetrics.Metrics
	// versions holds the resource versions of the bindings in the store, by name.
	versions map[string]string
	// listed is closed when the store holds all bindings that existed at the start.
	listed chan struct{}
	close  func()
}

var _ cache.ReflectorStore = &reflectorStore[policy.APIObject]{}

func newReflectorStore[Binding policy.APIObject](store BindingStore, compactor *compact.Compactor, metrics policymetrics.Metrics) *reflectorStore[Binding] {
	listed := make(chan struct{})
	return &reflectorStore[Binding]{store, compactor, metrics, map[string]string{}, listed, sync.OnceFunc(func() { close(listed) })}
}

// Add implements cache.ReflectorStore.
func (b *reflectorStore[Binding]) Add(object any) error { return b.Update(object) }

// Update implements cache.ReflectorStore.
func (b *reflectorStore[Binding]) Update(object any) error {
	binding, ok := object.(Binding)
	if !ok {
		return fmt.Errorf("%T is no binding", object)
	}
	if _, err := b.compactor.Transform(binding); err != nil {
		return err
	}
	start := time.Now()
	if err := b.store.Set(binding); err != nil {
		return err
	}
	b.metrics.ObserveBuild(time.Since(start))
	b.versions[binding.GetName()] = binding.GetResourceVersion()
	return nil
}

// Delete implements cache.ReflectorStore.
func (b *reflectorStore[Binding]) Delete(object any) error {
	binding, ok := object.(Binding)
	if !ok {
		return fmt.Errorf("%T is no binding", object)
	}
	b.remove(binding.GetName())
	return nil
}

func (b *reflectorStore[Binding]) remove(name string) {
	start := time.Now()
	b.store.DeleteBinding(name)
	b.metrics.ObserveBuild(time.Since(start))
	delete(b.versions, name)
}

// Replace implements cache.ReflectorStore. Bindings that have not changed since the last list stay
// as they are.
func (b *reflectorStore[Binding]) Replace(objects []any, _ string) error {
	present := make(map[string]bool, len(objects))
	for _, object := range objects {
		binding, ok := object.(Binding)
		if !ok {
			return fmt.Errorf("%T is no binding", object)
		}
		present[binding.GetName()] = true
		if version, known := b.versions[binding.GetName()]; !known || version != binding.GetResourceVersion() {
			if err := b.Update(binding); err != nil {
				return err
			}
		}
	}
	for name := range b.versions {
		if !present[name] {
			b.remove(name)
		}
	}
	b.close()
	return nil
}

// Resync implements cache.ReflectorStore.
func (b *reflectorStore[Binding]) Resync() error { return nil }

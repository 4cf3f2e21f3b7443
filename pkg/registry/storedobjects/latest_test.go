// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/lookups"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
)

// A gate delays the events of watches while it is locked.
type gate struct{ sync.Mutex }

func (g *gate) delay(from watch.Interface, err error) (watch.Interface, error) {
	if err != nil {
		return nil, err
	}
	events := make(chan watch.Event)
	delayed := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer from.Stop()
		for event := range from.ResultChan() {
			g.await()
			select {
			case events <- event:
			case <-delayed.StopChan():
				return
			}
		}
	}()
	return delayed, nil
}

// await waits until the gate is open.
func (g *gate) await() {
	g.Lock()
	defer g.Unlock()
}

// delayedStorage is an etcd whose watches a gate delays.
type delayedStorage struct {
	storage.Interface
	gate *gate
}

// Watch implements storage.Interface.
func (s delayedStorage) Watch(ctx context.Context, key string, options storage.ListOptions) (watch.Interface, error) {
	return s.gate.delay(s.Interface.Watch(ctx, key, options))
}

// cachedBehind decorates storages with a watch cache whose watch of etcd a gate delays.
func cachedBehind(g *gate) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error), newFunc, newListFunc func() runtime.Object,
		getAttrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
		raw, destroy, err := generic.NewRawStorage(config, newFunc, newListFunc, prefix)
		if err != nil {
			return nil, nil, err
		}
		cached, err := cacher.NewCacherFromConfig(cacher.Config{
			Storage: delayedStorage{raw, g}, Versioner: storage.APIObjectVersioner{}, GroupResource: config.GroupResource, EventsHistoryWindow: config.EventsHistoryWindow,
			ResourcePrefix: prefix, KeyFunc: keyFunc, NewFunc: newFunc, NewListFunc: newListFunc, GetAttrsFunc: getAttrs, IndexerFuncs: trigger, Indexers: indexers, Codec: config.Codec,
		})
		if err != nil {
			return nil, nil, err
		}
		delegator := cacher.NewCacheDelegator(cached, raw)
		return delegator, sync.OnceFunc(func() {
			delegator.Stop()
			cached.Stop()
			destroy()
		}), nil
	}
}

// delayedStored lists and watches stored objects with watches that a gate delays, and counts the
// revisions that are read.
type delayedStored struct {
	lookupsource.RevisionedStorage
	gate      *gate
	revisions atomic.Int32
}

// IsWatchListSemanticsUnSupported makes reflectors list, as they do without the gate.
func (*delayedStored) IsWatchListSemanticsUnSupported() bool { return true }

// ListWithContext implements cache.ListerWithContext.
func (s *delayedStored) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return s.RevisionedStorage.(cache.ListerWatcherWithContext).ListWithContext(ctx, options)
}

// WatchWithContext implements cache.WatcherWithContext.
func (s *delayedStored) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return s.gate.delay(s.RevisionedStorage.(cache.ListerWatcherWithContext).WatchWithContext(ctx, options))
}

// Revision implements lookupsource.RevisionedStorage.
func (s *delayedStored) Revision(ctx context.Context) (uint64, error) {
	s.revisions.Add(1)
	return s.RevisionedStorage.Revision(ctx)
}

// discovery serves Ingresses.
type discovery struct{}

// ServerResourcesForGroupVersionWithContext implements paramsource.Discovery.
func (discovery) ServerResourcesForGroupVersionWithContext(context.Context, string) (*metav1.APIResourceList, error) {
	return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "ingresses", Kind: "Ingress", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}}}}, nil
}

// One server writes, and another, whose watches are delayed, looks the objects up. The latest
// objects are never older than a write that the first server acknowledged before.
func TestLatest(t *testing.T) {
	var ofEtcd, ofCache gate
	config := etcd(t)
	writer, _ := openAt(t, config, generic.UndecoratedStorage)
	_, storages := openAt(t, config, cachedBehind(&ofEtcd))
	ctx := inNamespace(t)
	ready(t, ctx)
	stored := &delayedStored{RevisionedStorage: storages.ListerWatcher(ingresses).(lookupsource.RevisionedStorage), gate: &ofCache}
	source := lookupsource.New(discovery{}, nil, func(schema.GroupVersionKind) cache.ListerWatcher { return stored }, nil, t.Context().Done())
	handle := source.Open(ingresses, nil).(lookups.LatestHandle)
	defer handle.Close()

	latest := func() (*lookups.State, error) { return handle.Latest(ctx, lookups.Revisions{}) }
	for name, delayed := range map[string]*gate{"the watch of etcd": &ofEtcd, "the watch of the watch cache": &ofCache} {
		t.Run(name, func(t *testing.T) {
			if _, err := latest(); err != nil {
				t.Fatal(err)
			}
			delayed.Lock()
			create(t, ctx, writer, "acknowledged", "www.example")
			if state, err := handle.State(ctx); err != nil || state.Get("blue", "acknowledged") != nil {
				t.Errorf("the cached objects have the one whose event is delayed, or: %v", err)
			}
			if state, err := latest(); err == nil {
				t.Errorf("the latest objects are known while an event is delayed: %v", state.List(""))
			}
			delayed.Unlock()
			if state, err := latest(); err != nil || state.Get("blue", "acknowledged") == nil {
				t.Errorf("the latest objects do not have an acknowledged one, or: %v", err)
			}
			delayed.Lock()
			remove(t, ctx, writer, "acknowledged")
			if _, err := latest(); err == nil {
				t.Error("the latest objects are known while the event of a deletion is delayed")
			}
			delayed.Unlock()
			if state, err := latest(); err != nil || state.Get("blue", "acknowledged") != nil {
				t.Errorf("the latest objects have a deleted one, or: %v", err)
			}
		})
	}

	t.Run("many changes", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		exists := map[string]bool{}
		for range 300 {
			name := fmt.Sprintf("ingress-%d", random.IntN(5))
			if exists[name] {
				remove(t, ctx, writer, name)
			} else {
				create(t, ctx, writer, name, name)
			}
			exists[name] = !exists[name]
			state, err := latest()
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range exists {
				if got := state.Get("blue", name) != nil; got != want {
					t.Fatalf("%s is found: %t, want %t", name, got, want)
				}
			}
		}
	})

	t.Run("one revision for a request", func(t *testing.T) {
		before, revisions := stored.revisions.Load(), lookups.Revisions{}
		for range 3 {
			if _, err := handle.Latest(ctx, revisions); err != nil {
				t.Fatal(err)
			}
		}
		if read := stored.revisions.Load() - before; read != 1 {
			t.Errorf("read the revision %d times", read)
		}
	})
}

// A watch cache does not have the changes before its own list of the objects, so objects that are
// older than that can lack a deletion.
func TestContinues(t *testing.T) {
	config := etcd(t)
	writer, _ := openAt(t, config, generic.UndecoratedStorage)
	ctx := inNamespace(t)
	create(t, ctx, writer, "first", "first.example")
	create(t, ctx, writer, "second", "second.example")
	remove(t, ctx, writer, "second")
	_, storages := openAt(t, config, registry.StorageWithCacher())
	stored := storages.ListerWatcher(ingresses).(lookupsource.RevisionedStorage)
	revision, err := stored.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := stored.LastChange(ctx, revision); err == nil {
			break
		} else if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if err := stored.Continues(ctx, revision); err != nil {
		t.Errorf("the objects of the list: %v", err)
	}
	if err := stored.Continues(ctx, revision-1); err == nil {
		t.Error("objects before the deletion pass")
	}
}

func remove(t *testing.T, ctx context.Context, store rest.GracefulDeleter, name string) {
	t.Helper()
	if _, _, err := store.Delete(ctx, name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

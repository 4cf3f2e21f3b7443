// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/lookups"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"

	"celador.io/celador/pkg/registry/storedobjects"
)

// names is an index by the name.
type names struct{}

// Text implements lookups.Indexer.
func (names) Text() string { return "name" }

// Keys implements lookups.Indexer.
func (names) Keys(object apiruntime.Object) ([]string, error) {
	return []string{object.(metav1.Object).GetName()}, nil
}

// BenchmarkMemory reports the memory that a looked up kind takes for each object in addition to the
// watch cache, and the memory of an index for each key. A version that is converted by rules takes
// what the conversion does not share.
func BenchmarkMemory(b *testing.B) {
	const count = 5_000
	for name, kind := range map[string]schema.GroupVersionKind{"built-in": ingresses, "custom": widgetKind("v1"), "custom, converted": widgetKind("v2")} {
		b.Run(name, func(b *testing.B) {
			stored, storages := kind, manyIngresses
			if kind != ingresses {
				stored, storages = widgetKind("v1"), manyWidgets
			}
			all := storages(b, count)
			found, err := all.Find(b.Context(), stored, resourceOf(b, stored))
			if err != nil {
				b.Fatal(err)
			}
			// The list waits until the watch cache has all objects.
			if _, err := found.ListerWatcher.(cache.ListerWatcherWithContext).ListWithContext(b.Context(), metav1.ListOptions{}); err != nil {
				b.Fatal(err)
			}
			source := lookupsource.New(benchDiscovery{}, nil, all.Find, nil, b.Context().Done())
			begin := heap()
			objects := source.Open(kind, nil)
			if listed := known(b, objects).Len(""); listed != count {
				b.Fatalf("listed %d objects", listed)
			}
			listed := heap()
			index := source.Open(kind, names{})
			known(b, index)
			indexed := heap()
			for b.Loop() { // the figures are those of one run
			}
			b.ReportMetric((listed-begin)/count, "B/object")
			b.ReportMetric((indexed-listed)/count, "B/key")
			b.ReportMetric(0, "ns/op")
			objects.Close()
			index.Close()
		})
	}
}

func manyIngresses(b *testing.B, count int) *storedobjects.Storages {
	store, storages := openAt(b, etcd(b), registry.StorageWithCacher())
	ctx := inNamespace(b)
	ready(b, ctx)
	for i := range count {
		create(b, ctx, store, fmt.Sprint("ingress-", i), fmt.Sprint(i, ".example"))
	}
	return storages
}

func manyWidgets(b *testing.B, count int) *storedobjects.Storages {
	w, storages := openWidgets(b, "ConversionRules", registry.StorageWithCacher())
	ctx := inWidgets(b)
	ready(b, ctx)
	for i := range count {
		w.create(b, ctx, fmt.Sprint("widget-", i))
	}
	return storages
}

func resourceOf(b *testing.B, kind schema.GroupVersionKind) paramsource.Resource {
	resource, err := paramsource.Resolve(b.Context(), benchDiscovery{}, kind)
	if err != nil {
		b.Fatal(err)
	}
	return resource
}

// known returns the objects of a handle as soon as they are known.
func known(b *testing.B, handle lookups.Handle) (state *lookups.State) {
	err := wait.PollUntilContextTimeout(b.Context(), time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var err error
		state, err = handle.State(ctx)
		return err == nil, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return state
}

// heap returns the bytes of the reachable objects.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// benchDiscovery serves Ingresses and widgets.
type benchDiscovery struct{}

// ServerResourcesForGroupVersionWithContext implements paramsource.Discovery.
func (benchDiscovery) ServerResourcesForGroupVersionWithContext(ctx context.Context, version string) (*metav1.APIResourceList, error) {
	var served paramsource.Discovery = widgetDiscovery{}
	if version == ingresses.GroupVersion().String() {
		served = discovery{}
	}
	return served.ServerResourcesForGroupVersionWithContext(ctx, version)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/tools/cache"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// expressions holds the expressions of a CustomResourceDefinition by UID.
type expressions map[types.UID]*apiextensions.ExpressionFields

func (e expressions) Of(crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.ExpressionFields {
	return e[crd.UID]
}

// fixture is a table of resources over a cache without an informer.
type fixture struct {
	*resources
	expressions
	crds    cache.Indexer
	storage *crdtest.Storage
	// building is called before a Resource is built, if it is set.
	building func(*apiextensionsv1.CustomResourceDefinition) error
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	converters, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(),
		func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{expressions: expressions{}, crds: cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil), storage: &crdtest.Storage{}}
	builder := &serving.Builder{RESTOptions: f.storage, Converters: converters}
	f.resources = &resources{
		lister:      listers.NewCustomResourceDefinitionLister(f.crds),
		expressions: f.expressions,
		build: func(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields) (*serving.ServedResource, error) {
			if f.building != nil {
				if err := f.building(crd); err != nil {
					return nil, err
				}
			}
			return builder.Build(ctx, crd, expressions)
		},
		drainTimeout: time.Minute,
		stopped:      make(chan struct{}),
	}
	return f
}

func (f *fixture) set(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	_ = f.crds.Update(crd)
	return crd
}

func (f *fixture) mustGet(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *serving.ServedResource {
	t.Helper()
	resource, err := f.get(t.Context(), crd)
	if err != nil {
		t.Fatal(err)
	}
	return resource
}

func (f *fixture) slotCount() int {
	count := 0
	f.slots.Range(func(any, any) bool { count++; return true })
	return count
}

func widgets() *apiextensionsv1.CustomResourceDefinition {
	return crdtest.New(crdtest.Stored(crdtest.Version("v1", nil)), crdtest.Version("v2", nil))
}

func storeV2(spec *apiextensionsv1.CustomResourceDefinitionSpec) {
	spec.Versions[0].Storage, spec.Versions[1].Storage = false, true
}

// TestGenerations covers that a request is served by the CustomResourceDefinition that it has seen
// or a newer one, although no event handler has been called
// (https://github.com/kubernetes/kubernetes/issues/130235).
func TestGenerations(t *testing.T) {
	f := newFixture(t)
	old := f.set(widgets())
	first := f.mustGet(t, old)
	if first.Stored() != first.Version("v1") {
		t.Fatal("v1 is not the storage version")
	}
	if f.mustGet(t, old.DeepCopy()) != first {
		t.Error("an equal CustomResourceDefinition was built again")
	}

	updated := f.set(crdtest.Updated(old, storeV2))
	second := f.mustGet(t, updated)
	if second.Stored() != second.Version("v2") {
		t.Error("the storage version is stale")
	}
	if f.mustGet(t, old) != second {
		t.Error("a request that has read the old CustomResourceDefinition brought it back")
	}

	names := updated.DeepCopy()
	names.Status.AcceptedNames.Kind = "Gadget"
	if third := f.mustGet(t, f.set(names)); third == second {
		t.Error("accepted names are stale")
	}
}

// TestRetirement covers when storages are closed after an update: at once without requests, after
// the requests that use them, and after the timeout at the latest.
func TestRetirement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		old := f.set(widgets())
		idle, busy := f.mustGet(t, old), crdtest.New(crdtest.Stored(crdtest.Version("v1", nil)))
		busy.Name, busy.UID = "others.example.com", "others"
		resource := f.mustGet(t, f.set(busy))
		if !idle.Acquire() || !resource.Acquire() {
			t.Fatal("new Resources cannot be acquired")
		}
		idle.Release()

		f.update(f.set(crdtest.Updated(old, storeV2)))
		f.update(f.set(crdtest.Updated(busy, func(*apiextensionsv1.CustomResourceDefinitionSpec) {})))
		if f.storage.Open() != 3 {
			t.Errorf("%d storages are open right after the updates, want 3: watches may be about to use them", f.storage.Open())
		}
		time.Sleep(watchGrace)
		synctest.Wait()
		if f.storage.Open() != 1 {
			t.Errorf("%d storages are open, want that of the request alone", f.storage.Open())
		}
		if idle.Acquire() || resource.Acquire() {
			t.Error("a retired Resource was acquired")
		}
		time.Sleep(f.drainTimeout)
		synctest.Wait()
		if f.storage.Open() != 0 {
			t.Errorf("%d storages are open after the timeout", f.storage.Open())
		}
		resource.Release()
	})
}

// TestRemoval covers the deletion of a CustomResourceDefinition, with and without a new one of the
// same name, and that neither leaves anything behind.
func TestRemoval(t *testing.T) {
	for name, remove := range map[string]func(f *fixture, old *apiextensionsv1.CustomResourceDefinition){
		"deleted": func(f *fixture, old *apiextensionsv1.CustomResourceDefinition) {
			_ = f.crds.Delete(old)
			f.eventHandler().OnDelete(informers.DeletedCustomResourceDefinition{OptionalObj: old})
		},
		"deleted, event lost": func(f *fixture, old *apiextensionsv1.CustomResourceDefinition) {
			_ = f.crds.Delete(old)
			f.eventHandler().OnDelete(informers.DeletedCustomResourceDefinition{OptionalObj: old, FinalStateUnknown: &cache.DeletedFinalStateUnknown{Key: old.Name, Obj: old}})
		},
		"replaced": func(f *fixture, old *apiextensionsv1.CustomResourceDefinition) {
			replacement := old.DeepCopy()
			replacement.UID = "replacement"
			f.eventHandler().OnUpdate(old, f.set(replacement))
		},
		"deleted before the event, found by a request": func(f *fixture, old *apiextensionsv1.CustomResourceDefinition) {
			_ = f.crds.Delete(old)
			if _, err := f.get(context.Background(), crdtest.Updated(old, storeV2)); !errors.Is(err, errDeleted) {
				panic(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				old := f.set(widgets())
				resource := weak.Make(f.mustGet(t, old))
				remove(f, old)
				if _, err := f.get(t.Context(), crdtest.Updated(old, storeV2)); !errors.Is(err, errDeleted) {
					t.Errorf("got error %v, want errDeleted", err)
				}
				if f.slotCount() != 0 {
					t.Errorf("%d slots are left", f.slotCount())
				}
				time.Sleep(watchGrace)
				synctest.Wait()
				if f.storage.Open() != 0 {
					t.Errorf("%d storages are open", f.storage.Open())
				}
				runtime.GC()
				if resource.Value() != nil {
					t.Error("the Resource is still in memory")
				}
			})
		})
	}
}

// TestRemovalDuringRequests covers a request that waits for the lock of a slot while the slot is
// removed.
func TestRemovalDuringRequests(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			crd := f.set(widgets())
			var calls sync.WaitGroup
			for range 2 {
				calls.Go(func() { _, _ = f.get(t.Context(), crd) })
				calls.Go(func() { f.remove(crd.UID) })
			}
			calls.Wait()
			f.mustGet(t, crd)
			time.Sleep(watchGrace)
			synctest.Wait()
			if f.storage.Open() != 2 {
				t.Fatalf("%d storages are open, want those of the two versions", f.storage.Open())
			}
		})
	}
}

// TestFinalizer covers the finalizing controller, which changes the CustomResourceDefinition that
// it asks with.
func TestFinalizer(t *testing.T) {
	f := newFixture(t)
	cached := f.set(widgets())
	changed := cached.DeepCopy()
	deleter, err := f.GetCustomResourceListerCollectionDeleter(changed)
	if err != nil {
		t.Fatal(err)
	}
	changed.Status.AcceptedNames.Kind = "Changed"
	if resource := f.mustGet(t, cached); deleter != resource.Stored().Storage.CustomResource {
		t.Error("the Resource was found with the copy of the controller")
	}
	replaced := cached.DeepCopy()
	replaced.UID = "replaced"
	if _, err := f.GetCustomResourceListerCollectionDeleter(replaced); !errors.Is(err, errDeleted) {
		t.Errorf("got error %v of a replaced CustomResourceDefinition, want errDeleted", err)
	}
	_ = f.crds.Delete(cached)
	if _, err := f.GetCustomResourceListerCollectionDeleter(changed); !errors.Is(err, errDeleted) {
		t.Errorf("got error %v of a deleted CustomResourceDefinition, want errDeleted", err)
	}
}

// TestOutdatedEvents covers events that arrive after a request has built a newer Resource.
func TestOutdatedEvents(t *testing.T) {
	f := newFixture(t)
	old := f.set(widgets())
	updated := f.set(crdtest.Updated(old, storeV2))
	resource := f.mustGet(t, updated)
	f.eventHandler().OnAdd(old, false)
	f.eventHandler().OnUpdate(old, old.DeepCopy())
	if f.mustGet(t, updated) != resource {
		t.Error("an old event retired the current Resource")
	}
}

// TestSameGeneration covers updates that change the spec or the expressions without the generation:
// a restored etcd makes the former, a server of Kubernetes on the same etcd the latter.
func TestSameGeneration(t *testing.T) {
	f := newFixture(t)
	old := f.set(widgets())
	resource := f.mustGet(t, old)
	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	f.eventHandler().OnUpdate(old, f.set(labelled))
	if f.mustGet(t, labelled) != resource {
		t.Error("an update of the metadata retired the Resource")
	}
	restored := labelled.DeepCopy()
	storeV2(&restored.Spec)
	f.set(restored)
	if early := f.mustGet(t, restored); early.Stored() != early.Version("v2") {
		t.Error("a request before the event is served by the spec from before the backup was restored")
	}
	f.eventHandler().OnUpdate(labelled, restored)
	if stored := f.mustGet(t, restored); stored.Stored() != stored.Version("v2") {
		t.Error("the spec from before the backup was restored is served")
	}

	// The expressions are not in the spec.
	f.expressions[restored.UID] = &apiextensions.ExpressionFields{}
	again := restored.DeepCopy()
	f.set(again)
	if got := f.mustGet(t, again).Expressions(); got != f.expressions[restored.UID] {
		t.Error("a request before the event uses the old expressions")
	}
	f.eventHandler().OnUpdate(restored, f.set(again))
	if got := f.mustGet(t, again).Expressions(); got != f.expressions[restored.UID] {
		t.Error("the expressions from before the backup was restored are in use")
	}
}

// TestBuildsApart covers that building one Resource does not hold up the requests of another, and
// that requests for the same one build it once.
func TestBuildsApart(t *testing.T) {
	f := newFixture(t)
	slow, fast := f.set(widgets()), widgets()
	fast.Name, fast.UID = "others.example.com", "others"
	f.set(fast)
	begun, proceed := make(chan struct{}), make(chan struct{})
	f.building = func(crd *apiextensionsv1.CustomResourceDefinition) error {
		if crd.UID == slow.UID {
			// A second build would close the channel twice.
			close(begun)
			<-proceed
		}
		return nil
	}
	found := make(chan *serving.ServedResource, 2)
	for range 2 {
		go func() {
			resource, _ := f.get(t.Context(), slow)
			found <- resource
		}()
	}
	<-begun
	f.mustGet(t, fast)
	close(proceed)
	if first, second := <-found, <-found; first == nil || first != second {
		t.Error("two requests have got different Resources")
	}
}

func TestBuildErrors(t *testing.T) {
	f := newFixture(t)
	crd := f.set(widgets())
	f.building = func(*apiextensionsv1.CustomResourceDefinition) error { return errors.New("no connection") }
	if _, err := f.get(t.Context(), crd); err == nil || err.Error() != "no connection" {
		t.Errorf("got error %v", err)
	}
	f.building = nil
	if f.mustGet(t, crd) == nil {
		t.Error("a failed build is not repeated")
	}
}

// TestDestroy covers the end of the server: no storage stays open, those included that wait for
// requests.
func TestDestroy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		crd := f.set(widgets())
		f.mustGet(t, crd)
		f.update(f.set(crdtest.Updated(crd, storeV2)))
		f.mustGet(t, crdtest.Updated(crd, storeV2))
		f.destroy()
		f.destroy()
		synctest.Wait()
		if f.storage.Open() != 0 {
			t.Errorf("%d storages are open", f.storage.Open())
		}
	})
}

// TestDestroyDuringBuild covers requests and the finalizing controller, which may build a Resource
// while the server stops or later: nothing would close its storage.
func TestDestroyDuringBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		crd := f.set(widgets())
		proceed := make(chan struct{})
		f.building = func(*apiextensionsv1.CustomResourceDefinition) error { <-proceed; return nil }
		go func() { _, _ = f.get(t.Context(), crd) }()
		synctest.Wait()
		go f.destroy()
		<-f.stopped
		close(proceed)
		synctest.Wait()
		if f.storage.Opened() != 2 || f.storage.Open() != 0 {
			t.Errorf("%d storages of %d are open, want none of 2", f.storage.Open(), f.storage.Opened())
		}

		f.building = nil
		other := widgets()
		other.Name, other.UID = "others.example.com", "others"
		if _, err := f.get(t.Context(), f.set(other)); !errors.Is(err, errStopped) {
			t.Errorf("got error %v, want %v", err, errStopped)
		}
		if f.storage.Open() != 0 {
			t.Errorf("%d storages have been opened after the end", f.storage.Open())
		}
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects_test

import (
	"context"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	etcdfeature "k8s.io/apiserver/pkg/storage/feature"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	ingressstore "k8s.io/kubernetes/pkg/registry/networking/ingress/storage"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"

	"celador.io/celador/pkg/registry/storedobjects"
)

var ingresses = networkingv1.SchemeGroupVersion.WithKind("Ingress")

// getter implements generic.RESTOptionsGetter.
type getter struct{ generic.RESTOptions }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g getter) GetRESTOptions(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
	return g.RESTOptions, nil
}

// etcd returns the configuration of storages in an etcd of the test.
func etcd(t testing.TB) *storagebackend.Config {
	t.Helper()
	_, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = legacyscheme.Codecs.LegacyCodec(networkingv1.SchemeGroupVersion)
	config.EventsHistoryWindow = 2 * time.Minute
	return config
}

// open opens a storage of Ingresses, in an etcd of its own, with or without a watch cache.
func open(t *testing.T, decorator generic.StorageDecorator) (*ingressstore.REST, *storedobjects.Storages) {
	t.Helper()
	return openAt(t, etcd(t), decorator)
}

func openAt(t testing.TB, config *storagebackend.Config, decorator generic.StorageDecorator) (*ingressstore.REST, *storedobjects.Storages) {
	t.Helper()
	storages := storedobjects.New(legacyscheme.Scheme)
	options := generic.RESTOptions{StorageConfig: config.ForResource(schema.GroupResource{Group: "networking.k8s.io", Resource: "ingresses"}), ResourcePrefix: "ingresses", Decorator: decorator}
	store, _, err := ingressstore.NewREST(storages.Collect(getter{options}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Destroy)
	return store, storages
}

// find returns what lists and watches a kind, or nil.
func find(t *testing.T, storages *storedobjects.Storages, kind schema.GroupVersionKind) cache.ListerWatcher {
	t.Helper()
	found, err := storages.Find(t.Context(), kind, paramsource.Resource{})
	if err != nil {
		t.Fatal(err)
	}
	return found.ListerWatcher
}

func inNamespace(t testing.TB) context.Context {
	info := &request.RequestInfo{APIGroup: "networking.k8s.io", APIVersion: "v1", Resource: "ingresses"}
	ctx, cancel := context.WithTimeout(request.WithRequestInfo(request.WithNamespace(t.Context(), "blue"), info), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// ready waits until it is known what etcd supports. Before, lists of the most recent version come
// from etcd.
func ready(t testing.TB, ctx context.Context) {
	t.Helper()
	if err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		return etcdfeature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress), nil
	}); err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, ctx context.Context, store *ingressstore.REST, name, host string) {
	t.Helper()
	backend := &networking.IngressBackend{Service: &networking.IngressServiceBackend{Name: "s", Port: networking.ServiceBackendPort{Number: 80}}}
	ingress := &networking.Ingress{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "blue", Labels: map[string]string{"a": "b"}}, Spec: networking.IngressSpec{DefaultBackend: backend, Rules: []networking.IngressRule{{Host: host}}}}
	if _, err := store.Create(ctx, ingress, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// cached returns an object as the watch cache holds it, in an own struct.
func cached(t *testing.T, ctx context.Context, store *ingressstore.REST, name string) *networking.Ingress {
	t.Helper()
	object, err := store.Get(ctx, name, &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	return object.(*networking.Ingress)
}

// itemsOf returns the objects of a list, and its resource version.
func itemsOf(t *testing.T, list runtime.Object) ([]runtime.Object, string) {
	t.Helper()
	listed, ok := list.(*metainternalversion.List)
	if !ok {
		t.Fatalf("listed a %T", list)
	}
	return listed.Items, listed.ResourceVersion
}

// nextEvent returns the object of the next event that is no bookmark, and has the given type.
func nextEvent(t *testing.T, ctx context.Context, watched watch.Interface, want watch.EventType) runtime.Object {
	t.Helper()
	for {
		select {
		case event := <-watched.ResultChan():
			switch event.Type {
			case watch.Bookmark:
			case want:
				return event.Object
			default:
				t.Fatalf("got event %s of %v, want %s", event.Type, event.Object, want)
			}
		case <-ctx.Done():
			t.Fatal("no event")
		}
	}
}

// Listed and watched objects have their version and kind, and share memory with the watch cache.
func TestObjectsShareMemory(t *testing.T) {
	store, storages := open(t, registry.StorageWithCacher())
	ctx := inNamespace(t)
	ready(t, ctx)
	create(t, ctx, store, "first", "first.example")
	lw := find(t, storages, ingresses).(cache.ListerWatcherWithContext)

	list, err := lw.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "0", Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	items, version := itemsOf(t, list)
	if len(items) != 1 || version == "" {
		t.Fatalf("listed %v in version %q", items, version)
	}
	check := func(object runtime.Object, name string) {
		t.Helper()
		ingress, ok := object.(*networkingv1.Ingress)
		if !ok || ingress.Name != name || ingress.GroupVersionKind() != ingresses || ingress.Spec.Rules[0].Host != name+".example" {
			t.Fatalf("got %#v, want Ingress %s", object, name)
		}
		if &ingress.Spec.Rules[0].Host != &cached(t, ctx, store, name).Spec.Rules[0].Host {
			t.Errorf("the rules of %s are a copy", name)
		}
	}
	check(items[0], "first")

	watched, err := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	create(t, ctx, store, "second", "second.example")
	check(nextEvent(t, ctx, watched, watch.Added), "second")
	if _, _, err := store.Delete(ctx, "first", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if deleted, ok := nextEvent(t, ctx, watched, watch.Deleted).(*networkingv1.Ingress); !ok || deleted.Name != "first" {
		t.Errorf("%v is deleted", deleted)
	}
	// Stop ends the watch although nobody reads an event.
	create(t, ctx, store, "third", "third.example")
	watched.Stop()
	for {
		select {
		case _, open := <-watched.ResultChan():
			if !open {
				return
			}
		case <-ctx.Done():
			t.Fatal("the watch does not end")
		}
	}
}

func TestKindsThatAreNotStored(t *testing.T) {
	_, storages := open(t, registry.StorageWithCacher())
	for _, kind := range []schema.GroupVersionKind{
		{Group: "networking.k8s.io", Version: "v9", Kind: "Ingress"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
		{Group: "example.com", Version: "v1", Kind: "Ingress"},
	} {
		if lw := find(t, storages, kind); lw != nil {
			t.Errorf("%v has %v", kind, lw)
		}
	}
	closed, destroyed := open(t, registry.StorageWithCacher())
	closed.Destroy()
	if lw := find(t, destroyed, ingresses); lw != nil {
		t.Errorf("a destroyed storage has %v", lw)
	}
	_, uncached := open(t, generic.UndecoratedStorage)
	if lw := find(t, uncached, ingresses); lw != nil {
		t.Errorf("a storage without a watch cache has %v", lw)
	}
}

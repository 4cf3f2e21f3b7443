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
func etcd(t *testing.T) *storagebackend.Config {
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

func openAt(t *testing.T, config *storagebackend.Config, decorator generic.StorageDecorator) (*ingressstore.REST, *storedobjects.Storages) {
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

func inNamespace(t *testing.T) context.Context {
	info := &request.RequestInfo{APIGroup: "networking.k8s.io", APIVersion: "v1", Resource: "ingresses"}
	ctx, cancel := context.WithTimeout(request.WithRequestInfo(request.WithNamespace(t.Context(), "blue"), info), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// ready waits until it is known what etcd supports. Before, lists of the most recent version come
// from etcd.
func ready(t *testing.T, ctx context.Context) {
	t.Helper()
	if err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		return etcdfeature.DefaultFeatureSupportChecker.Supports(storage.RequestWatchProgress), nil
	}); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, ctx context.Context, store *ingressstore.REST, name, host string) {
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

// Listed and watched objects have their version and kind, and share memory with the watch cache.
func TestObjectsShareMemory(t *testing.T) {
	store, storages := open(t, registry.StorageWithCacher())
	ctx := inNamespace(t)
	ready(t, ctx)
	create(t, ctx, store, "first", "first.example")
	lw := storages.ListerWatcher(ingresses).(cache.ListerWatcherWithContext)

	list, err := lw.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "0", Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	listed := list.(*metainternalversion.List)
	if len(listed.Items) != 1 || listed.ResourceVersion == "" {
		t.Fatalf("listed %v", listed)
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
	check(listed.Items[0], "first")

	watched, err := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: listed.ResourceVersion, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	next := func() watch.Event {
		t.Helper()
		for {
			select {
			case event := <-watched.ResultChan():
				if event.Type != watch.Bookmark {
					return event
				}
			case <-ctx.Done():
				t.Fatal("no event")
			}
		}
	}
	create(t, ctx, store, "second", "second.example")
	event := next()
	if event.Type != watch.Added {
		t.Fatalf("got event %s of %v", event.Type, event.Object)
	}
	check(event.Object, "second")
	if _, _, err := store.Delete(ctx, "first", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	event = next()
	if deleted, ok := event.Object.(*networkingv1.Ingress); event.Type != watch.Deleted || !ok || deleted.Name != "first" {
		t.Errorf("got event %s of %v", event.Type, event.Object)
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
		if lw := storages.ListerWatcher(kind); lw != nil {
			t.Errorf("%v has %v", kind, lw)
		}
	}
	closed, destroyed := open(t, registry.StorageWithCacher())
	closed.Destroy()
	if lw := destroyed.ListerWatcher(ingresses); lw != nil {
		t.Errorf("a destroyed storage has %v", lw)
	}
	_, uncached := open(t, generic.UndecoratedStorage)
	if lw := uncached.ListerWatcher(ingresses); lw != nil {
		t.Errorf("a storage without a watch cache has %v", lw)
	}
}

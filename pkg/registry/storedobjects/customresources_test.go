// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storedobjects_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/tools/cache"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"celador.io/admission/lookups"
	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/apiserver"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
	"celador.io/apiextensions-apiserver/pkg/features"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"

	"celador.io/celador/pkg/registry/storedobjects"
)

// widgets implements storedobjects.StorageOpener for widgets of the versions v1, in which they are
// stored, and v2.
type widgets struct {
	*serving.ServedResource
	err error
}

// Open implements storedobjects.StorageOpener.
func (w *widgets) Open(_ context.Context, resource schema.GroupVersionResource) (*apiserver.OpenedStorage, error) {
	if w.err != nil || resource.Resource != "widgets" {
		return nil, w.err
	}
	return &apiserver.OpenedStorage{Store: w.Version(resource.Version).Storage.CustomResource.Store, Outdated: w.Outdated()}, nil
}

// widgetResource is the resource that serves widgets in a version.
func widgetResource(version string) paramsource.Resource {
	return paramsource.Resource{GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "widgets"}, Namespaced: true}
}

func widgetKind(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"}
}

// openWidgets opens the storages of widgets in an etcd of their own.
func openWidgets(t testing.TB, strategy apiextensionsv1.ConversionStrategyType, decorator generic.StorageDecorator) (*widgets, *storedobjects.Storages) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	server, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })
	config.Codec, config.EventsHistoryWindow = unstructured.UnstructuredJSONScheme, storagebackend.DefaultEventsHistoryWindow
	options := generic.RESTOptions{
		StorageConfig: config.ForResource(schema.GroupResource{Group: "example.com", Resource: "widgets"}),
		Decorator:     decorator, ResourcePrefix: "/example.com/widgets", DeleteCollectionWorkers: 1,
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	nested := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": text}}
	crd := crdtest.New(
		crdtest.Stored(crdtest.Version("v1", map[string]apiextensionsv1.JSONSchemaProps{"old": text, "nested": nested})),
		crdtest.Version("v2", map[string]apiextensionsv1.JSONSchemaProps{"new": text, "nested": nested}))
	crd.Spec.Conversion.Strategy = strategy
	var expressions *apiextensions.ExpressionFields
	if strategy == "ConversionRules" {
		expressions = &apiextensions.ExpressionFields{ConversionRules: true, Converters: []v1.Converter{
			{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{{Field: "spec.new", Rule: "self.spec.?old"}}},
			{FromVersion: "v2", ToVersion: "v1", Rules: []v1.ConversionRule{{Field: "spec.old", Rule: "self.spec.?new"}}},
		}}
	}
	converters, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		t.Fatal(err)
	}
	storages := storedobjects.New(legacyscheme.Scheme)
	resource, err := (&serving.Builder{RESTOptions: storages.Collect(getter{options}), Converters: converters}).Build(t.Context(), crd, expressions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	w := &widgets{ServedResource: resource}
	storages.ReadCustomResources(w)
	return w, storages
}

func inWidgets(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(request.WithRequestInfo(request.WithNamespace(t.Context(), "blue"), &request.RequestInfo{APIGroup: "example.com", Resource: "widgets"}), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func (w *widgets) create(t testing.TB, ctx context.Context, name string) {
	t.Helper()
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "blue", "name": name},
		"spec": map[string]any{"old": name, "nested": map[string]any{"a": "b"}},
	}}
	if _, err := w.Version("v1").Storage.CustomResource.Create(ctx, widget, rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (w *widgets) remove(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if _, _, err := w.Version("v1").Storage.CustomResource.Delete(ctx, name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Custom resources are read in each version with each conversion strategy, and share memory with the
// watch cache. With conversion rules, a converted object shares what the conversion has left equal.
func TestCustomResourcesShareMemory(t *testing.T) {
	for strategy, fields := range map[apiextensionsv1.ConversionStrategyType]map[string]string{
		"None":            {"v1": "old", "v2": ""},
		"ConversionRules": {"v1": "old", "v2": "new"},
	} {
		for version, field := range fields {
			t.Run(string(strategy)+" "+version, func(t *testing.T) {
				w, storages := openWidgets(t, strategy, registry.StorageWithCacher())
				ctx := inWidgets(t)
				ready(t, ctx)
				w.create(t, ctx, "first")
				found, err := storages.Find(ctx, widgetKind(version), widgetResource(version))
				if err != nil || found.ListerWatcher == nil || found.Outdated != w.Outdated() {
					t.Fatalf("found %v, %v", found, err)
				}
				lw := found.ListerWatcher.(cache.ListerWatcherWithContext)
				check := func(object runtime.Object, name string) {
					t.Helper()
					widget, ok := object.(*unstructured.Unstructured)
					if !ok || widget.GetName() != name || widget.GroupVersionKind() != widgetKind(version) {
						t.Fatalf("got %#v, want %s in %s", object, name, version)
					}
					if value, _, _ := unstructured.NestedString(widget.Object, "spec", field); field != "" && value != name {
						t.Errorf("spec.%s is %q, want %q", field, value, name)
					}
					cached, err := w.Version(version).Storage.CustomResource.Get(ctx, name, &metav1.GetOptions{ResourceVersion: "0"})
					if err != nil {
						t.Fatal(err)
					}
					nested := func(u *unstructured.Unstructured) uintptr {
						value, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "nested")
						return reflect.ValueOf(value).Pointer()
					}
					if nested(widget) != nested(cached.(*unstructured.Unstructured)) {
						t.Errorf("%s is a copy", name)
					}
				}
				list, err := lw.ListWithContext(ctx, metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				items, version := itemsOf(t, list)
				if len(items) != 1 {
					t.Fatalf("listed %v", items)
				}
				check(items[0], "first")
				watched, err := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
				if err != nil {
					t.Fatal(err)
				}
				defer watched.Stop()
				w.create(t, ctx, "second")
				check(nextEvent(t, ctx, watched, watch.Added), "second")
				w.remove(t, ctx, "first")
				if deleted := nextEvent(t, ctx, watched, watch.Deleted).(metav1.Object); deleted.GetName() != "first" {
					t.Errorf("%s is deleted", deleted.GetName())
				}
			})
		}
	}
}

// Latest lookups of custom resources find what was stored before, in each version.
func TestLatestCustomResources(t *testing.T) {
	w, storages := openWidgets(t, "ConversionRules", registry.StorageWithCacher())
	ctx := inWidgets(t)
	ready(t, ctx)
	for _, version := range []string{"v1", "v2"} {
		source := lookupsource.New(widgetDiscovery{}, nil, storages.Find, nil, t.Context().Done())
		handle := source.Open(widgetKind(version), nil).(lookups.LatestHandle)
		defer handle.Close()
		for range 50 {
			w.create(t, ctx, "changing")
			for _, present := range []bool{true, false} {
				state, err := handle.Latest(ctx, lookups.Revisions{})
				if err != nil {
					t.Fatal(err)
				}
				if found := state.Get("blue", "changing") != nil; found != present {
					t.Fatalf("the widget is found: %t, want %t", found, present)
				}
				if present {
					w.remove(t, ctx, "changing")
				}
			}
		}
	}
}

// What is not in a watch cache is read by requests. Until discovery and the storage agree about the
// scope, it is not known what to read.
func TestCustomResourcesThatAreNotStored(t *testing.T) {
	w, storages := openWidgets(t, "None", registry.StorageWithCacher())
	other := widgetResource("v1")
	other.Resource = "gadgets"
	if found, err := storages.Find(t.Context(), widgetKind("v1"), other); err != nil || found.ListerWatcher != nil {
		t.Errorf("another resource has %v, %v", found, err)
	}
	clusterScoped := widgetResource("v1")
	clusterScoped.Namespaced = false
	if found, err := storages.Find(t.Context(), widgetKind("v1"), clusterScoped); err == nil {
		t.Errorf("another scope has %v", found)
	}
	w.err = errors.New("no storage")
	if _, err := storages.Find(t.Context(), widgetKind("v1"), widgetResource("v1")); !errors.Is(err, w.err) {
		t.Errorf("got error %v, want %v", err, w.err)
	}
	_, uncached := openWidgets(t, "None", generic.UndecoratedStorage)
	if found, err := uncached.Find(t.Context(), widgetKind("v1"), widgetResource("v1")); err != nil || found.ListerWatcher != nil {
		t.Errorf("a storage without a watch cache has %v, %v", found, err)
	}
}

// widgetDiscovery serves widgets.
type widgetDiscovery struct{}

// ServerResourcesForGroupVersionWithContext implements paramsource.Discovery.
func (widgetDiscovery) ServerResourcesForGroupVersionWithContext(_ context.Context, version string) (*metav1.APIResourceList, error) {
	if version != "example.com/v1" && version != "example.com/v2" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: version}, "")
	}
	return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "widgets", Kind: "Widget", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}}}}, nil
}

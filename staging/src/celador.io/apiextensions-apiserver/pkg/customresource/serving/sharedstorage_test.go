// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/client/v3/kubernetes"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// gadgets serves widgets in v1, the storage version, and v2. v1 has spec.timeout, such as 30s,
// where v2 has spec.seconds and the label size of spec.size. Texts that are not durations do not
// convert to v2.
type gadgets struct {
	*serving.ServedResource
	etcd   *kubernetes.Client
	prefix string
}

func serveGadgets(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition, *apiextensions.ExpressionFields)) *gadgets {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CustomResourceConversionRules, true)
	server, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	t.Cleanup(func() { server.Terminate(t) })
	config.Codec = unstructured.UnstructuredJSONScheme
	config.EventsHistoryWindow = storagebackend.DefaultEventsHistoryWindow
	options := generic.RESTOptions{
		StorageConfig: config.ForResource(schema.GroupResource{Group: "example.com", Resource: "widgets"}),
		Decorator:     genericregistry.StorageWithCacher(), ResourcePrefix: "/example.com/widgets", DeleteCollectionWorkers: 2,
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	crd := crdtest.New(
		crdtest.Stored(crdtest.Version("v1", map[string]apiextensionsv1.JSONSchemaProps{"timeout": text, "size": text, "note": text})),
		crdtest.Version("v2", map[string]apiextensionsv1.JSONSchemaProps{"seconds": {Type: "integer"}, "size": text, "note": text}))
	crd.Spec.Conversion.Strategy = "ConversionRules"
	crd.Spec.Versions[1].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.seconds"}}
	expressions := &apiextensions.ExpressionFields{ConversionRules: true, Converters: []v1.Converter{
		{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{
			{Field: "spec.seconds", Rule: "has(self.spec.timeout) ? optional.of(duration(self.spec.timeout).getSeconds()) : optional.none()"},
		}},
		{FromVersion: "v2", ToVersion: "v1", Rules: []v1.ConversionRule{
			{Field: "spec.timeout", Rule: "has(self.spec.seconds) ? optional.of(string(self.spec.seconds) + 's') : optional.none()"},
		}},
	}}
	if change != nil {
		change(crd, expressions)
	}
	converters, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		t.Fatal(err)
	}
	resource, err := (&serving.Builder{RESTOptions: options, Converters: converters}).Build(t.Context(), crd, expressions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return resource.Version("v1").Storage.CustomResource.ReadinessCheck() == nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	return &gadgets{resource, server.V3Client, config.Prefix}
}

// put stores a widget without a server, and returns the resource version.
func (g *gadgets) put(t *testing.T, version, namespace, name string, spec map[string]any, change ...func(*unstructured.Unstructured)) string {
	t.Helper()
	w := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/" + version, "kind": "Widget",
		"metadata": map[string]any{"namespace": namespace, "name": name, "uid": namespace + "-" + name}, "spec": spec,
	}}
	for _, c := range change {
		c(w)
	}
	data, err := json.Marshal(w.Object)
	if err != nil {
		t.Fatal(err)
	}
	put, err := g.etcd.Put(t.Context(), g.prefix+"/example.com/widgets/"+namespace+"/"+name, string(data))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(put.Header.Revision)
}

func in(ctx context.Context, namespace string) context.Context {
	return request.WithRequestInfo(request.WithNamespace(ctx, namespace), &request.RequestInfo{APIGroup: "example.com", Resource: "widgets"})
}

// list returns the names in a list of a version.
func (g *gadgets) list(ctx context.Context, version, namespace string, options *metainternalversion.ListOptions) ([]string, error) {
	list, err := g.Version(version).Storage.CustomResource.List(in(ctx, namespace), options)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, item := range list.(*unstructured.UnstructuredList).Items {
		if item.GetAPIVersion() != "example.com/"+version {
			return nil, fmt.Errorf("%s has the version %s", item.GetName(), item.GetAPIVersion())
		}
		names = append(names, item.GetName())
	}
	return names, nil
}

func (g *gadgets) expectList(t *testing.T, version, namespace string, options *metainternalversion.ListOptions, want ...string) {
	t.Helper()
	got, err := g.list(t.Context(), version, namespace, options)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("list in %s of namespace %q: got %v, %v, want %v", version, namespace, got, err, want)
	}
}

// fresh are the options of a list from the watch cache that is as new as a resource version.
func fresh(resourceVersion string) *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{ResourceVersion: resourceVersion}
}

// broken serves the widgets good and broken in the namespace b, and good in the namespace a. It
// returns the resource version of the last.
func broken(t *testing.T) (*gadgets, string) {
	t.Helper()
	g := serveGadgets(t, nil)
	g.put(t, "v1", "a", "good", map[string]any{"timeout": "1s"})
	g.put(t, "v1", "b", "broken", map[string]any{"timeout": "soon"})
	return g, g.put(t, "v1", "b", "good", map[string]any{"timeout": "2s"})
}

// Objects in the watch cache share equal managed fields. What a request reads from etcd does not.
func TestSharedManagedFields(t *testing.T) {
	owned := func(u *unstructured.Unstructured) {
		u.Object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{
			"manager": "m", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:note": map[string]any{}}},
		}}
	}
	g := serveGadgets(t, nil)
	var last string
	for i := range 4 {
		last = g.put(t, "v1", "a", fmt.Sprint(i), map[string]any{"note": "x"}, owned)
	}
	storage := g.Version("v1").Storage.CustomResource
	list, err := storage.List(in(t.Context(), "a"), fresh(last))
	if err != nil {
		t.Fatal(err)
	}
	pointer := func(u *unstructured.Unstructured) uintptr {
		entries, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
		return reflect.ValueOf(entries.([]any)[0].(map[string]any)["fieldsV1"]).Pointer()
	}
	items := list.(*unstructured.UnstructuredList).Items
	if pointer(&items[2]) != pointer(&items[3]) {
		t.Error("objects in the watch cache do not share managed fields")
	}
	read, err := storage.Get(in(t.Context(), "a"), "3", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pointer(asUnstructured(read)) == pointer(&items[3]) {
		t.Error("an object that was read from etcd shares managed fields")
	}
}

// An object that does not convert is an error of requests that contain it, and of no others.
func TestObjectThatDoesNotConvert(t *testing.T) {
	g, last := broken(t)
	for _, options := range []*metainternalversion.ListOptions{nil, fresh("0"), fresh(last), {Limit: 5}} {
		g.expectList(t, "v1", "", options, "good", "broken", "good")
		g.expectList(t, "v1", "b", options, "broken", "good")
		g.expectList(t, "v2", "a", options, "good")
		for _, namespace := range []string{"", "b"} {
			_, err := g.list(t.Context(), "v2", namespace, options)
			status := apierrors.APIStatus(nil)
			if !errors.As(err, &status) || status.Status().Reason != metav1.StatusReasonStoreReadError || status.Status().Code != 500 {
				t.Fatalf("list of namespace %q: got error %v, want StorageReadError", namespace, err)
			}
			if causes := status.Status().Details.Causes; len(causes) != 1 || causes[0].Field != "/example.com/widgets/b/broken" {
				t.Errorf("got causes %v, want the key of the object", causes)
			}
		}
	}
	g.expectList(t, "v2", "b", &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "good")}, "good")

	storage := g.Version("v2").Storage.CustomResource
	if _, err := storage.Get(in(t.Context(), "b"), "good", &metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	for _, resourceVersion := range []string{"", "0"} {
		if _, err := storage.Get(in(t.Context(), "b"), "broken", &metav1.GetOptions{ResourceVersion: resourceVersion}); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "corrupt object") {
			t.Errorf("get: got error %v, want a corrupt object", err)
		}
	}
}

// Requests for metadata evaluate no rules that do not write metadata.
func TestMetadataOfObjectThatDoesNotConvert(t *testing.T) {
	g, last := broken(t)
	ctx := versionedstorage.WithMetadataOnly(t.Context())
	got, err := g.list(ctx, "v2", "", fresh(last))
	if want := []string{"good", "broken", "good"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	object, err := g.Version("v2").Storage.CustomResource.Get(in(ctx, "b"), "broken", &metav1.GetOptions{})
	if err != nil || object.GetObjectKind().GroupVersionKind().Version != "v2" {
		t.Errorf("got %v, %v, want the metadata in v2", object, err)
	}
	w, err := g.Version("v2").Storage.CustomResource.Watch(in(ctx, "b"), &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, name := range []string{"broken", "good"} {
		if event := next(t, w); event.Type != watch.Added || nameOf(event.Object) != name {
			t.Errorf("got %v, want %s", event, name)
		}
	}
}

// Metadata that rules write comes from these rules, and from no others.
func TestMetadataThatRulesWrite(t *testing.T) {
	g := serveGadgets(t, func(_ *apiextensionsv1.CustomResourceDefinition, e *apiextensions.ExpressionFields) {
		e.Converters[0].Rules = append(e.Converters[0].Rules, v1.ConversionRule{Field: "metadata.labels['size']", Rule: "has(self.spec.size) ? optional.of(self.spec.size) : optional.none()"})
	})
	g.put(t, "v1", "a", "broken", map[string]any{"timeout": "soon", "size": "big"})
	last := g.put(t, "v1", "a", "good", map[string]any{"timeout": "1s", "size": "small"})
	list, err := g.Version("v2").Storage.CustomResource.List(in(versionedstorage.WithMetadataOnly(t.Context()), "a"), fresh(last))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"big", "small"} {
		if got := list.(*unstructured.UnstructuredList).Items[i].GetLabels()["size"]; got != want {
			t.Errorf("got label %q, want %q", got, want)
		}
	}
	selector := labels.SelectorFromSet(labels.Set{"size": "small"})
	if _, err := g.list(t.Context(), "v2", "a", &metainternalversion.ListOptions{LabelSelector: selector}); err == nil {
		t.Error("got no error, want one: the labels of an object are unknown")
	}
	g.expectList(t, "v1", "a", &metainternalversion.ListOptions{LabelSelector: selector})
	last = g.put(t, "v1", "a", "broken", map[string]any{"timeout": "3s", "size": "big"})
	for _, options := range []*metainternalversion.ListOptions{{}, fresh(last)} {
		options.LabelSelector = selector
		g.expectList(t, "v2", "a", options, "good")
	}
}

// Objects are selected by the fields that they have in the version of the request, and watches see
// when an update changes the selection.
func TestSelectionByVersion(t *testing.T) {
	g := serveGadgets(t, nil)
	g.put(t, "v1", "a", "one", map[string]any{"timeout": "1s"})
	g.put(t, "v2", "a", "stored-in-v2", map[string]any{"seconds": int64(1)})
	last := g.put(t, "v1", "a", "two", map[string]any{"timeout": "2s"})
	selector := fields.OneTermEqualSelector("spec.seconds", "1")
	for _, options := range []*metainternalversion.ListOptions{{}, fresh("0"), fresh(last), {Limit: 1}} {
		options.FieldSelector = selector
		want := []string{"one", "stored-in-v2"}
		if options.Limit == 1 {
			want = want[:1]
		}
		g.expectList(t, "v2", "a", options, want...)
	}
	w, err := g.Version("v2").Storage.CustomResource.Watch(in(t.Context(), "a"), &metainternalversion.ListOptions{ResourceVersion: last, FieldSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	g.put(t, "v1", "a", "two", map[string]any{"timeout": "1s"})
	g.put(t, "v1", "a", "two", map[string]any{"timeout": "1s", "note": "x"})
	g.put(t, "v1", "a", "two", map[string]any{"timeout": "3s"})
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		event := next(t, w)
		if event.Type != want || nameOf(event.Object) != "two" {
			t.Errorf("got %s of %s, want %s of two", event.Type, nameOf(event.Object), want)
		}
	}
}

// When an update takes an object out of the selection of a watch, the watch gets the object before
// the update with the resource version of the update. Requests for the object after it must not get
// that one.
func TestWatchThatAnObjectLeaves(t *testing.T) {
	g := serveGadgets(t, nil)
	storage := g.Version("v2").Storage.CustomResource
	last := g.put(t, "v1", "a", "one", map[string]any{"timeout": "1s", "note": "before"})
	w, err := storage.Watch(in(t.Context(), "a"), &metainternalversion.ListOptions{ResourceVersion: last, FieldSelector: fields.OneTermEqualSelector("spec.seconds", "1")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	last = g.put(t, "v1", "a", "one", map[string]any{"timeout": "2s", "note": "after"})
	note := func(object runtime.Object) string {
		note, _, _ := unstructured.NestedString(asUnstructured(object).Object, "spec", "note")
		return note
	}
	if event := next(t, w); event.Type != watch.Deleted || note(event.Object) != "before" {
		t.Errorf("got %s of %v, want the deletion of the object before the update", event.Type, event.Object)
	}
	list, err := storage.List(in(t.Context(), "a"), fresh(last))
	if err != nil {
		t.Fatal(err)
	}
	if item := &list.(*unstructured.UnstructuredList).Items[0]; note(item) != "after" {
		t.Errorf("got %v, want the object after the update", item)
	}
}

// A watch that meets an object that does not convert ends with an error event. Others go on.
func TestWatchOfObjectThatDoesNotConvert(t *testing.T) {
	g := serveGadgets(t, nil)
	last := g.put(t, "v1", "a", "first", map[string]any{"timeout": "1s"})
	open := func(version, namespace string) watch.Interface {
		w, err := g.Version(version).Storage.CustomResource.Watch(in(t.Context(), namespace), &metainternalversion.ListOptions{ResourceVersion: last})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		return w
	}
	stored, other, all := open("v1", ""), open("v2", "a"), open("v2", "")
	g.put(t, "v1", "b", "broken", map[string]any{"timeout": "soon"})
	g.put(t, "v1", "a", "good", map[string]any{"timeout": "2s"})
	if event := next(t, stored); nameOf(event.Object) != "broken" {
		t.Errorf("got %v in v1, want the object", event)
	}
	for _, w := range []watch.Interface{stored, other} {
		if event := next(t, w); nameOf(event.Object) != "good" {
			t.Errorf("got %v, want the object good", event)
		}
	}
	event := next(t, all)
	if status, ok := event.Object.(*metav1.Status); event.Type != watch.Error || !ok || status.Reason != metav1.StatusReasonStoreReadError {
		t.Errorf("got %v, want an error event", event)
	}
	if event, ok := <-all.ResultChan(); ok {
		t.Errorf("got %v after the error, want the end of the watch", event)
	}
}

// An update that changes nothing writes nothing, also if one version has defaults that the other
// one lacks. Requests have the defaults of their version, and field managers record their time.
func TestUpdateWithoutChange(t *testing.T) {
	g := serveGadgets(t, func(crd *apiextensionsv1.CustomResourceDefinition, _ *apiextensions.ExpressionFields) {
		for i := range crd.Spec.Versions {
			spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
			spec.Properties["defaulted"+crd.Spec.Versions[i].Name] = apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}}
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		}
	})
	ctx := in(t.Context(), "a")
	for _, version := range []string{"v1", "v2"} {
		storage := g.Version(version).Storage.CustomResource
		// request returns an object as it arrives in a request.
		request := func(note string, minute int) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com/" + version, "kind": "Widget",
				"metadata": map[string]any{"namespace": "a", "name": version, "managedFields": []any{map[string]any{
					"manager": "m", "operation": "Apply", "apiVersion": "example.com/" + version, "time": fmt.Sprintf("2026-01-01T00:%02d:00Z", minute),
					"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:note": map[string]any{}}},
				}}},
				"spec": map[string]any{"note": note, "defaulted" + version: "x"},
			}}
		}
		created, err := storage.Create(ctx, request("x", 0), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before := asUnstructured(created).GetResourceVersion()
		if _, err := g.list(ctx, version, "a", fresh(before)); err != nil { // The watch cache has the object now.
			t.Fatal(err)
		}
		update := func(note string, minute int) *unstructured.Unstructured {
			t.Helper()
			updated, _, err := storage.Update(ctx, version, rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, current runtime.Object) (runtime.Object, error) {
				u := request(note, minute)
				u.SetUID(asUnstructured(current).GetUID())
				u.SetCreationTimestamp(asUnstructured(current).GetCreationTimestamp())
				u.SetResourceVersion(asUnstructured(current).GetResourceVersion())
				u.SetGeneration(asUnstructured(current).GetGeneration())
				return u, nil
			}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return asUnstructured(updated)
		}
		// The times of an update that changes nothing in the same version are restored before it
		// gets here.
		minute := map[string]int{"v1": 0, "v2": 1}[version]
		if got := update("x", minute); got.GetResourceVersion() != before || got.GetGeneration() != 1 {
			t.Errorf("%s: an update without a change has the resource version %s, want %s, and the generation %d", version, got.GetResourceVersion(), before, got.GetGeneration())
		}
		if got := update("y", 2); got.GetResourceVersion() == before || got.GetGeneration() != 2 {
			t.Errorf("%s: an update has the same resource version, or the generation %d", version, got.GetGeneration())
		}
	}
}

// An object that does not convert can be mended and deleted.
func TestMendAndDelete(t *testing.T) {
	g, _ := broken(t)
	ctx := in(t.Context(), "b")
	mend := func(version string) error {
		_, _, err := g.Version(version).Storage.CustomResource.Update(ctx, "broken", rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, object runtime.Object) (runtime.Object, error) {
			u := object.DeepCopyObject().(*unstructured.Unstructured)
			return u, unstructured.SetNestedField(u.Object, "3s", "spec", "timeout")
		}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
		return err
	}
	if err := mend("v2"); err == nil {
		t.Error("updated an object in a version to which it does not convert")
	}
	if err := mend("v1"); err != nil {
		t.Error(err)
	}
	g.expectList(t, "v2", "b", nil, "broken", "good")

	unsafe := true
	options := &metav1.DeleteOptions{IgnoreStoreReadErrorWithClusterBreakingPotential: &unsafe}
	if _, _, err := g.Version("v2").Deleter().GetCorruptObjDeleter().Delete(ctx, "broken", rest.ValidateAllObjectFunc, options); !apierrors.IsConflict(err) {
		t.Errorf("unsafe deletion of an object that converts: got %v, want a conflict", err)
	}
	g.put(t, "v1", "b", "broken", map[string]any{"timeout": "soon"})
	if _, _, err := g.Version("v1").Deleter().GetCorruptObjDeleter().Delete(ctx, "broken", rest.ValidateAllObjectFunc, options); !apierrors.IsConflict(err) {
		t.Errorf("unsafe deletion in the stored version: got %v, want a conflict", err)
	}
	dryRun := options.DeepCopy()
	dryRun.DryRun = []string{metav1.DryRunAll}
	for _, o := range []*metav1.DeleteOptions{dryRun, options} {
		if _, deleted, err := g.Version("v2").Deleter().GetCorruptObjDeleter().Delete(ctx, "broken", rest.ValidateAllObjectFunc, o); err != nil || !deleted {
			t.Errorf("unsafe deletion: %v", err)
		}
	}
	g.expectList(t, "v1", "b", nil, "good")

	// An ordinary deletion needs no conversion. With a finalizer, it marks the object in its
	// version.
	g.put(t, "v1", "b", "broken", map[string]any{"timeout": "soon"}, func(w *unstructured.Unstructured) { w.SetFinalizers([]string{"example.com/hold"}) })
	if object, deleted, err := g.Version("v2").Deleter().Delete(ctx, "broken", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil || deleted || object != nil {
		t.Errorf("deletion: got %v, %v, %v, want the object marked", object, deleted, err)
	}
	held, err := g.Version("v1").Storage.CustomResource.Get(ctx, "broken", &metav1.GetOptions{})
	if err != nil || held.(*unstructured.Unstructured).GetDeletionTimestamp() == nil {
		t.Errorf("got %v, %v, want the object marked", held, err)
	}
	g.put(t, "v1", "b", "broken", map[string]any{"timeout": "soon"})
	if _, err := g.Version("v2").Deleter().DeleteCollection(ctx, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}, nil); err != nil {
		t.Errorf("deletion of a collection: %v", err)
	}
	g.expectList(t, "v1", "", nil, "good")
}

// Watches in both versions see every one of many concurrent writes in both versions.
func TestWatchesDuringWrites(t *testing.T) {
	g := serveGadgets(t, nil)
	const objects, writes = 4, 100
	var last string
	for i := range objects {
		last = g.put(t, "v1", "a", fmt.Sprint("w", i), map[string]any{"timeout": "0s"})
	}
	var done sync.WaitGroup
	seen := map[string][]string{}
	var mu sync.Mutex
	for _, version := range []string{"v1", "v2", "v2", "v2", "v1"} {
		from := func(resourceVersion string) (watch.Interface, error) {
			return g.Version(version).Storage.CustomResource.Watch(in(t.Context(), "a"), &metainternalversion.ListOptions{ResourceVersion: resourceVersion})
		}
		w, err := from(last)
		if err != nil {
			t.Fatal(err)
		}
		done.Go(func() {
			defer func() { w.Stop() }()
			counts := map[string]int64{}
			var versions []string
			for len(versions) < objects*writes {
				event, ok := <-w.ResultChan()
				if !ok {
					// The watch cache ends watches that are too slow for it. Clients resume them.
					if len(versions) == 0 {
						t.Error("a watch has ended without an event")
						return
					}
					var err error
					if w, err = from(versions[len(versions)-1]); err != nil {
						t.Error(err)
						return
					}
					continue
				}
				object := asUnstructured(event.Object)
				if event.Type != watch.Modified || object == nil || object.GetAPIVersion() != "example.com/"+version {
					t.Errorf("got %v in %s", event, version)
					return
				}
				counts[object.GetName()]++
				seconds, _, _ := unstructured.NestedInt64(object.Object, "spec", "seconds")
				timeout, _, _ := unstructured.NestedString(object.Object, "spec", "timeout")
				if want := counts[object.GetName()]; seconds != want && timeout != fmt.Sprintf("%ds", want) {
					t.Errorf("%s in %s: got %d, %q, want %d", object.GetName(), version, seconds, timeout, want)
				}
				versions = append(versions, object.GetResourceVersion())
			}
			mu.Lock()
			defer mu.Unlock()
			seen[version] = versions
		})
	}
	var writers sync.WaitGroup
	for i := range objects {
		writers.Go(func() {
			for n := range writes {
				version := []string{"v1", "v2"}[n%2]
				_, _, err := g.Version(version).Storage.CustomResource.Update(in(t.Context(), "a"), fmt.Sprint("w", i), rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, object runtime.Object) (runtime.Object, error) {
					u := object.DeepCopyObject().(*unstructured.Unstructured)
					if version == "v1" {
						return u, unstructured.SetNestedField(u.Object, fmt.Sprintf("%ds", n+1), "spec", "timeout")
					}
					return u, unstructured.SetNestedField(u.Object, int64(n+1), "spec", "seconds")
				}), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := g.list(t.Context(), version, "a", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	done.Wait()
	if !slices.Equal(seen["v1"], seen["v2"]) {
		t.Error("the watches in v1 and v2 have seen different resource versions")
	}
}

func asUnstructured(object runtime.Object) *unstructured.Unstructured {
	u, _ := versionedstorage.CustomResource(object)
	return u
}

func nameOf(object runtime.Object) string {
	if u := asUnstructured(object); u != nil {
		return u.GetName()
	}
	return ""
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch has ended")
		}
		return event
	case <-time.After(30 * time.Second):
		t.Fatal("no event")
	}
	return watch.Event{}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

// typed is the interface of typed clients of all kinds, versions and libraries.
type typed[P, L any] interface {
	Create(context.Context, P, metav1.CreateOptions) (P, error)
	Update(context.Context, P, metav1.UpdateOptions) (P, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	Get(context.Context, string, metav1.GetOptions) (P, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (P, error)
}

// pointer is a pointer to an API type.
type pointer[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

func TestTypedClients(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		config := speaking(t, encoding)
		ours, theirs := celador(t, config), stock(t, config)
		for version, use := range map[string]func(*testing.T){
			"celador v1": func(t *testing.T) {
				client := ours.AdmissionregistrationV1()
				use(t, "v1", policies, client.ValidatingAdmissionPolicies())
				use(t, "v1", bindings, client.ValidatingAdmissionPolicyBindings())
				use(t, "v1", mutatingPolicies, client.MutatingAdmissionPolicies())
				use(t, "v1", mutatingBindings, client.MutatingAdmissionPolicyBindings())
			},
			"celador v1beta1": func(t *testing.T) {
				client := ours.AdmissionregistrationV1beta1()
				use(t, "v1beta1", mutatingPolicies, client.MutatingAdmissionPolicies())
				use(t, "v1beta1", mutatingBindings, client.MutatingAdmissionPolicyBindings())
			},
			"celador v1alpha1": func(t *testing.T) {
				client := ours.AdmissionregistrationV1alpha1()
				use(t, "v1alpha1", mutatingPolicies, client.MutatingAdmissionPolicies())
				use(t, "v1alpha1", mutatingBindings, client.MutatingAdmissionPolicyBindings())
			},
			"stock v1": func(t *testing.T) {
				client := theirs.AdmissionregistrationV1()
				use(t, "v1", policies, client.ValidatingAdmissionPolicies())
				use(t, "v1", bindings, client.ValidatingAdmissionPolicyBindings())
				use(t, "v1", mutatingPolicies, client.MutatingAdmissionPolicies())
				use(t, "v1", mutatingBindings, client.MutatingAdmissionPolicyBindings())
			},
			"stock v1beta1": func(t *testing.T) {
				client := theirs.AdmissionregistrationV1beta1()
				use(t, "v1beta1", mutatingPolicies, client.MutatingAdmissionPolicies())
				use(t, "v1beta1", mutatingBindings, client.MutatingAdmissionPolicyBindings())
			},
			"stock v1alpha1": func(t *testing.T) {
				client := theirs.AdmissionregistrationV1alpha1()
				use(t, "v1alpha1", mutatingPolicies, client.MutatingAdmissionPolicies())
				use(t, "v1alpha1", mutatingBindings, client.MutatingAdmissionPolicyBindings())
			},
		} {
			t.Run(encoding+" "+version, use)
		}
	}
}

// speaking returns a configuration of clients that send and accept only the content type. A
// response of another type fails the test.
func speaking(t *testing.T, contentType string) *rest.Config {
	config := rest.CopyConfig(admin)
	config.ContentType, config.AcceptContentTypes = contentType, contentType
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && !strings.HasPrefix(response.Header.Get("Content-Type"), contentType) {
				t.Errorf("%s %s answers in %q, want %q", request.Method, request.URL.Path, response.Header.Get("Content-Type"), contentType)
			}
			return response, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// use calls each method of a client and checks the responses.
func use[T any, P pointer[T], L runtime.Object](t *testing.T, version, resource string, client typed[P, L]) {
	c := conversation[T, P, L]{client, version, resource, testserver.UniqueName("run")}
	events := watchFrom(t, client, c.list(t), c.mine())

	created := c.create(t)
	events.expect(t, watch.Added, created)
	settled(t, raw(t, admin, version, resource), created.GetName()) // not all clients see the status
	created = testserver.Must(c.Get(t.Context(), created.GetName(), metav1.GetOptions{}))(t)
	c.read(t, created)
	events.expect(t, watch.Modified, c.update(t, created))
	for _, kind := range []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType} {
		events.expect(t, watch.Modified, c.patch(t, created.GetName(), kind))
	}
	c.delete(t, created.GetName())
	events.expect(t, watch.Deleted, created)
	c.deleteCollection(t)
}

// conversation is the test of one client, whose objects have a unique label.
type conversation[T any, P pointer[T], L runtime.Object] struct {
	typed[P, L]
	version, resource, label string
}

func (c conversation[T, P, L]) mine() metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: "run=" + c.label}
}

func (c conversation[T, P, L]) list(t *testing.T) runtime.Object {
	t.Helper()
	return testserver.Must(c.List(t.Context(), c.mine()))(t)
}

func (c conversation[T, P, L]) object(t *testing.T, label string) P {
	t.Helper()
	source := object(t, c.version, c.resource, testserver.UniqueName("typed"), full[c.resource])
	source.SetLabels(map[string]string{"run": label})
	obj := P(new(T))
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(source.Object, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func (c conversation[T, P, L]) create(t *testing.T) P {
	t.Helper()
	sent := c.object(t, c.label)
	created := testserver.Must(c.Create(t.Context(), sent, metav1.CreateOptions{}))(t)
	if diff := cmp.Diff(any(parse(t, full[c.resource])), specOf(t, created)); diff != "" {
		t.Errorf("spec of the created object (-want +got):\n%s", diff)
	}
	if created.GetUID() == "" || created.GetResourceVersion() == "" || created.GetGeneration() != 1 {
		t.Errorf("the server did not fill in the metadata: %v", created)
	}
	if _, err := c.Create(t.Context(), sent, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("creating it again: got error %v, want that it exists", err)
	}
	return created
}

func (c conversation[T, P, L]) read(t *testing.T, created P) {
	t.Helper()
	got := testserver.Must(c.Get(t.Context(), created.GetName(), metav1.GetOptions{}))(t)
	if diff := cmp.Diff(content(t, created), content(t, got)); diff != "" {
		t.Errorf("get (-created +got):\n%s", diff)
	}
	listed := items(t, c.list(t))
	if len(listed) != 1 {
		t.Fatalf("listed %v, want the one created object", listed)
	}
	if diff := cmp.Diff(content(t, created), content(t, listed[0])); diff != "" {
		t.Errorf("list (-created +got):\n%s", diff)
	}
}

func (c conversation[T, P, L]) update(t *testing.T, obj P) P {
	t.Helper()
	outdated := obj.DeepCopyObject().(P)
	obj.SetAnnotations(map[string]string{"note": "updated"})
	updated := testserver.Must(c.Update(t.Context(), obj, metav1.UpdateOptions{}))(t)
	if updated.GetAnnotations()["note"] != "updated" {
		t.Errorf("the update has no effect: %v", updated)
	}
	if _, err := c.Update(t.Context(), outdated, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("updating what has changed since: got error %v, want a conflict", err)
	}
	return updated
}

func (c conversation[T, P, L]) patch(t *testing.T, name string, kind types.PatchType) P {
	t.Helper()
	data, options := `{"metadata": {"annotations": {"note": %q}}}`, metav1.PatchOptions{}
	switch kind {
	case types.JSONPatchType:
		data = `[{"op": "replace", "path": "/metadata/annotations/note", "value": %q}]`
	case types.ApplyYAMLPatchType:
		data = `{"apiVersion": "` + group + `/` + c.version + `", "kind": "` + kinds[c.resource] + `", "metadata": {"annotations": {"note": %q}}}`
		options = metav1.PatchOptions{FieldManager: "typed", Force: new(true)}
	}
	patched := testserver.Must(c.Patch(t.Context(), name, kind, fmt.Appendf(nil, data, kind), options))(t)
	if got := patched.GetAnnotations()["note"]; got != string(kind) {
		t.Errorf("%s leaves annotation %q", kind, got)
	}
	return patched
}

func (c conversation[T, P, L]) delete(t *testing.T, name string) {
	t.Helper()
	another := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("another")}
	if err := c.Delete(t.Context(), name, another); !apierrors.IsConflict(err) {
		t.Errorf("deleting another object of that name: got error %v, want a conflict", err)
	}
	if err := c.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: got error %v, want not found", err)
	}
}

func (c conversation[T, P, L]) deleteCollection(t *testing.T) {
	t.Helper()
	other := testserver.Must(c.Create(t.Context(), c.object(t, "other"), metav1.CreateOptions{}))(t)
	for range 2 {
		testserver.Must(c.Create(t.Context(), c.object(t, c.label), metav1.CreateOptions{}))(t)
	}
	if err := c.DeleteCollection(t.Context(), metav1.DeleteOptions{}, c.mine()); err != nil {
		t.Error(err)
	}
	if left := items(t, c.list(t)); len(left) != 0 {
		t.Errorf("after the deletion of all: listed %v", left)
	}
	if err := c.Delete(t.Context(), other.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Errorf("an object outside the deleted collection: %v", err)
	}
}

// content returns the JSON of an object without the fields that lists omit.
func content(t *testing.T, obj any) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(testserver.Must(json.Marshal(obj))(t), &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "apiVersion")
	delete(fields, "kind")
	return fields
}

func specOf(t *testing.T, obj any) any {
	t.Helper()
	return content(t, obj)["spec"]
}

func items(t *testing.T, list runtime.Object) []metav1.Object {
	t.Helper()
	var all []metav1.Object
	err := meta.EachListItem(list, func(obj runtime.Object) error {
		item, err := meta.Accessor(obj)
		all = append(all, item)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// stream is a watch with methods that expect one event.
type stream struct{ watch.Interface }

// watchFrom watches the objects of a list for later changes.
func watchFrom[P, L any](t *testing.T, client typed[P, L], list runtime.Object, options metav1.ListOptions) stream {
	t.Helper()
	options.ResourceVersion = testserver.Must(meta.ListAccessor(list))(t).GetResourceVersion()
	options.TimeoutSeconds = new(int64(60))
	events := testserver.Must(client.Watch(t.Context(), options))(t)
	t.Cleanup(events.Stop)
	return stream{events}
}

// expect waits for the next event, which must have the type and the object. It skips the event of
// the server's status write.
func (s stream) expect(t *testing.T, kind watch.EventType, obj metav1.Object) {
	t.Helper()
	event, got := s.next(t, kind, obj)
	if event.Type == watch.Modified && got.GetResourceVersion() != obj.GetResourceVersion() && got.GetAnnotations()["note"] == "" {
		event, got = s.next(t, kind, obj)
	}
	if event.Type != kind || got.GetUID() != obj.GetUID() || kind != watch.Deleted && got.GetResourceVersion() != obj.GetResourceVersion() {
		t.Errorf("got event %s of %s at %s, want %s of %s at %s", event.Type, got.GetName(), got.GetResourceVersion(), kind, obj.GetName(), obj.GetResourceVersion())
	}
}

func (s stream) next(t *testing.T, kind watch.EventType, obj metav1.Object) (watch.Event, metav1.Object) {
	t.Helper()
	event, open := <-s.ResultChan()
	if !open {
		t.Fatalf("the watch ended before the event %s of %s", kind, obj.GetName())
	}
	got, err := meta.Accessor(event.Object)
	if err != nil {
		t.Fatalf("event %v: %v", event, err)
	}
	return event, got
}

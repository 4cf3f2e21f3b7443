// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/v3/kubernetes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/localclient"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/client-go/clientset"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
)

// The specs have the fields that defaults would set.
var (
	match      = &v1.MatchResources{MatchPolicy: new(v1.Equivalent), NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}, ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{Operations: []v1.OperationType{v1.Create}, Rule: v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}, Scope: new(v1.AllScopes)}}}}}
	policySpec = v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Fail), MatchConstraints: match, Validations: []v1.Validation{{Expression: "true"}}}
	mutateSpec = v1.MutatingAdmissionPolicySpec{FailurePolicy: new(v1.Fail), MatchConstraints: match, ReinvocationPolicy: v1.NeverReinvocationPolicy, Mutations: []v1.Mutation{{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: "[JSONPatch{op: 'remove', path: '/spec/nodeName'}]"}}}}
)

// localKind is a kind of the group as the server stores it and as the client reads it.
type localKind struct {
	resource string
	stored   runtime.Object
	list     func(context.Context, clientset.Interface, metav1.ListOptions) ([]metav1.Object, string, error)
	watch    func(context.Context, clientset.Interface, metav1.ListOptions) (watch.Interface, error)
	// read returns a v1 object of the kind.
	read runtime.Object
}

func objects[T any, P interface {
	*T
	metav1.Object
}](list metav1.ListInterface, items []T, err error) ([]metav1.Object, string, error) {
	var found []metav1.Object
	for i := range items {
		found = append(found, P(&items[i]))
	}
	return found, list.GetResourceVersion(), err
}

func localKinds() []localKind {
	meta := metav1.ObjectMeta{Name: "demo"}
	return []localKind{{
		"validatingadmissionpolicies", &admissionregistration.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: policySpec},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) ([]metav1.Object, string, error) {
			list, err := c.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, o)
			return objects(list, list.Items, err)
		},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) (watch.Interface, error) {
			return c.AdmissionregistrationV1().ValidatingAdmissionPolicies().Watch(ctx, o)
		}, &v1.ValidatingAdmissionPolicy{},
	}, {
		"validatingadmissionpolicybindings", &admissionregistration.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "demo", ValidationActions: []v1.ValidationAction{v1.Deny}}},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) ([]metav1.Object, string, error) {
			list, err := c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, o)
			return objects(list, list.Items, err)
		},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) (watch.Interface, error) {
			return c.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Watch(ctx, o)
		}, &v1.ValidatingAdmissionPolicyBinding{},
	}, {
		"mutatingadmissionpolicies", &admissionregistration.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: mutateSpec},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) ([]metav1.Object, string, error) {
			list, err := c.AdmissionregistrationV1().MutatingAdmissionPolicies().List(ctx, o)
			return objects(list, list.Items, err)
		},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) (watch.Interface, error) {
			return c.AdmissionregistrationV1().MutatingAdmissionPolicies().Watch(ctx, o)
		}, &v1.MutatingAdmissionPolicy{},
	}, {
		"mutatingadmissionpolicybindings", &admissionregistration.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo"}},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) ([]metav1.Object, string, error) {
			list, err := c.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().List(ctx, o)
			return objects(list, list.Items, err)
		},
		func(ctx context.Context, c clientset.Interface, o metav1.ListOptions) (watch.Interface, error) {
			return c.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Watch(ctx, o)
		}, &v1.MutatingAdmissionPolicyBinding{},
	}}
}

// localServer returns the storage of the group in v1, and a client that reads from it.
func localServer(t *testing.T) (map[string]registryrest.Storage, clientset.Interface, *fake.Clientset) {
	t.Helper()
	remote, stores := fake.NewClientset(), &localclient.RegistryStores{}
	return localServerOf(t, stores), localclient.New(remote, stores), remote
}

// localServerOf returns the storage of the group in v1, which is added to stores.
func localServerOf(t *testing.T, stores *localclient.RegistryStores) map[string]registryrest.Storage {
	t.Helper()
	p := provider()
	p.Stores = stores
	server := newServer(t, p.StorageMediaType, "", false)
	// The watch cache begins after version 1.
	for _, key := range []string{"/a", "/b"} {
		if _, err := server.etcd.OptimisticPut(t.Context(), key, nil, 0, kubernetes.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return server.installFrom(t, p).VersionedResourcesStorageMap["v1"]
}

// TestLocalClient lists each kind, and watches it from there until the object is deleted.
func TestLocalClient(t *testing.T) {
	storage, client, remote := localServer(t)
	ctx, cancel := context.WithTimeout(by(t.Context(), root, "v1"), time.Minute)
	defer cancel()
	for _, k := range localKinds() {
		t.Run(k.resource, func(t *testing.T) {
			if err := create(ctx, storage[k.resource], k.stored); err != nil {
				t.Fatal(err)
			}
			// An informer asks for any version and for pages.
			found, version, err := k.list(ctx, client, metav1.ListOptions{ResourceVersion: "0", Limit: 500})
			if err != nil || len(found) != 1 || found[0].GetUID() == "" || version == "" {
				t.Fatalf("listed %v at version %q, %v, want the stored object", found, version, err)
			}
			stored, err := storage[k.resource].(registryrest.Getter).Get(ctx, "demo", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := scheme.Scheme.Convert(stored, k.read, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(k.read, found[0].(runtime.Object)); diff != "" {
				t.Errorf("listed object (-stored +got):\n%s", diff)
			}
			if none, _, err := k.list(ctx, client, metav1.ListOptions{FieldSelector: "metadata.name=other"}); err != nil || len(none) > 0 {
				t.Errorf("a field selector finds %v, %v, want nothing", none, err)
			}

			watched, err := k.watch(ctx, client, metav1.ListOptions{ResourceVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer watched.Stop()
			if _, _, err := storage[k.resource].(registryrest.GracefulDeleter).Delete(ctx, "demo", registryrest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			select {
			case event := <-watched.ResultChan():
				object, ok := event.Object.(metav1.Object)
				if event.Type != watch.Deleted || !ok || object.GetName() != "demo" || object.GetUID() != found[0].GetUID() {
					t.Errorf("got event %s of %#v, want the deletion of the object", event.Type, event.Object)
				}
				if got, want := cmp.Diff(k.read, event.Object, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ResourceVersion" }, cmp.Ignore())), ""; got != want {
					t.Errorf("deleted object (-stored +got):\n%s", got)
				}
			case <-ctx.Done():
				t.Error("no event")
			}
		})
	}
	if actions := remote.Actions(); len(actions) > 0 {
		t.Errorf("the client sent requests: %v", actions)
	}
	if !watchlist.DoesClientNotSupportWatchListSemantics(client) {
		t.Error("informers would copy each object instead of listing them")
	}
}

// TestLocalClientSharesMemory shows that lists do not copy what the watch cache holds.
func TestLocalClientSharesMemory(t *testing.T) {
	storage, client, _ := localServer(t)
	ctx := by(t.Context(), root, "v1")
	if err := create(ctx, storage["validatingadmissionpolicies"], &admissionregistration.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Spec: policySpec}); err != nil {
		t.Fatal(err)
	}
	var lists [2]*v1.ValidatingAdmissionPolicyList
	for i := range lists {
		var err error
		if lists[i], err = client.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := &lists[0].Items[0], &lists[1].Items[0]; a == b || &a.Spec.Validations[0] != &b.Spec.Validations[0] {
		t.Error("two lists have the same items, or copies of the validations")
	}
}

// TestLocalClientWatches shows which events a watch begins and ends with.
func TestLocalClientWatches(t *testing.T) {
	storage, client, _ := localServer(t)
	bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	ctx, cancel := context.WithTimeout(by(t.Context(), root, "v1"), time.Minute)
	defer cancel()
	for range 3 {
		object := &admissionregistration.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-"}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "demo", ValidationActions: []v1.ValidationAction{v1.Deny}}}
		if err := create(ctx, storage["validatingadmissionpolicybindings"], object); err != nil {
			t.Fatal(err)
		}
	}
	next := func(w watch.Interface) (watch.Event, bool) {
		t.Helper()
		select {
		case event, open := <-w.ResultChan():
			return event, open
		case <-ctx.Done():
			t.Fatal("the watch neither goes on nor ends")
			return watch.Event{}, false
		}
	}
	initial, err := bindings.Watch(ctx, metav1.ListOptions{AllowWatchBookmarks: true, SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		event, _ := next(initial)
		binding, ok := event.Object.(*v1.ValidatingAdmissionPolicyBinding)
		switch {
		case !ok || binding.ResourceVersion == "":
			t.Errorf("event %d is %s of %#v", i, event.Type, event.Object)
		case i < 3 && event.Type != watch.Added:
			t.Errorf("event %d is %s, want the present bindings first", i, event.Type)
		case i == 3 && (event.Type != watch.Bookmark || binding.Annotations[metav1.InitialEventsAnnotationKey] != "true"):
			t.Errorf("event %d is %s with %v, want the bookmark after the present bindings", i, event.Type, binding.Annotations)
		}
	}
	initial.Stop()

	unread, err := bindings.Watch(ctx, metav1.ListOptions{SendInitialEvents: new(true), AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	next(unread)
	unread.Stop()
	for open := true; open; { // at most one event is on its way
		_, open = next(unread)
	}

	expired, err := bindings.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	event, _ := next(expired)
	if event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Errorf("a watch from a version before the first begins with %s of %#v, want that the version has expired", event.Type, event.Object)
	}
	if event, open := next(expired); open {
		t.Errorf("the watch goes on after the error: %v", event)
	}
}

// TestLocalClientInformer runs an informer, whose object follows an update.
func TestLocalClientInformer(t *testing.T) {
	storage, client, _ := localServer(t)
	policies := storage["validatingadmissionpolicies"]
	ctx, cancel := context.WithTimeout(by(t.Context(), root, "v1"), time.Minute)
	defer cancel()
	policy := &admissionregistration.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Spec: policySpec}
	if err := create(ctx, policies, policy); err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer()
	updated := make(chan *v1.ValidatingAdmissionPolicy, 1)
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, current any) {
		updated <- current.(*v1.ValidatingAdmissionPolicy)
	}}); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	t.Cleanup(factory.Shutdown)
	t.Cleanup(stop)
	factory.StartWithContext(running)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the informer does not sync")
	}
	stored, err := policies.(registryrest.Getter).Get(ctx, "demo", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed := stored.(*admissionregistration.ValidatingAdmissionPolicy).DeepCopy()
	changed.Spec.Validations = []v1.Validation{{Expression: "object.kind == 'Pod'"}}
	if _, _, err := policies.(registryrest.Updater).Update(ctx, "demo", registryrest.DefaultUpdatedObjectInfo(changed), registryrest.ValidateAllObjectFunc, registryrest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-updated:
		if got.Generation != 2 || got.Spec.Validations[0].Expression != "object.kind == 'Pod'" {
			t.Errorf("the informer has generation %d with %q", got.Generation, got.Spec.Validations[0].Expression)
		}
	case <-ctx.Done():
		t.Error("the informer misses the update")
	}
}

func TestLocalClientErrors(t *testing.T) {
	notServed := localclient.New(fake.NewClientset(), &localclient.RegistryStores{})
	_, client, remote := localServer(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, k := range localKinds() {
		t.Run(k.resource, func(t *testing.T) {
			if _, _, err := k.list(t.Context(), notServed, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("listing what is not served returns %v", err)
			}
			if _, err := k.watch(t.Context(), notServed, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("watching what is not served returns %v", err)
			}
			if _, _, err := k.list(t.Context(), client, metav1.ListOptions{LabelSelector: "a in"}); !apierrors.IsBadRequest(err) {
				t.Errorf("listing with an invalid selector returns %v", err)
			}
			if _, err := k.watch(t.Context(), client, metav1.ListOptions{FieldSelector: "a"}); !apierrors.IsBadRequest(err) {
				t.Errorf("watching with an invalid selector returns %v", err)
			}
			if _, _, err := k.list(ended, client, metav1.ListOptions{}); err == nil {
				t.Error("listing with a context that has ended returns no error")
			}
		})
	}
	if _, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}, metav1.CreateOptions{}); err != nil || len(remote.Actions()) != 1 {
		t.Errorf("creation is %v and sends %v, want one request", err, remote.Actions())
	}
}

// TestFresh covers that an informer is fresh only while it follows the resource, whoever else
// watches it, and that a resource that is not served is.
func TestFresh(t *testing.T) {
	stores := &localclient.RegistryStores{}
	if err := stores.Fresh(t.Context(), "validatingadmissionpolicies", ""); err != nil {
		t.Errorf("a resource that is not served: %v", err)
	}
	storage, client := localServerOf(t, stores), localclient.New(fake.NewClientset(), stores)
	ctx, cancel := context.WithTimeout(by(t.Context(), root, "v1"), time.Minute)
	defer cancel()
	for _, k := range localKinds() {
		t.Run(k.resource, func(t *testing.T) {
			check := func(what, seen string, want bool) {
				t.Helper()
				err := stores.Fresh(ctx, k.resource, seen)
				// It takes a moment until a watch has an event, and until it knows that the event
				// was read.
				for (err == nil) != want && ctx.Err() == nil {
					err = stores.Fresh(ctx, k.resource, seen)
				}
				if (err == nil) != want {
					t.Errorf("%s: got error %v, want fresh: %t", what, err, want)
				}
			}
			watchFrom := func(version string) *following {
				t.Helper()
				watching, err := k.watch(ctx, client, metav1.ListOptions{ResourceVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				return &following{watching, version}
			}
			_, version, err := k.list(ctx, client, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			check("before it is watched", version, false)
			own, other := watchFrom(version), watchFrom(version)
			check("while nothing happens", own.seen, true)
			if err := create(ctx, storage[k.resource], k.stored); err != nil {
				t.Fatal(err)
			}
			other.next(t)
			check("before it has read the event", own.seen, false)
			own.next(t)
			check("when both have read the event", own.seen, true)
			check("an informer that lags behind", version, false)

			other.stop()
			check("when another watch ended", own.seen, true)
			late := watchFrom(own.seen)
			check("when another watch began", own.seen, true)
			own.stop()
			check("when only the other watch is open, and has seen no more", own.seen, true)
			if _, _, err := storage[k.resource].(registryrest.GracefulDeleter).Delete(ctx, "demo", registryrest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			late.next(t)
			check("when the other watch has seen more", own.seen, false)
			check("the informer of the other watch", late.seen, true)
			later := watchFrom(late.seen)
			late.stop()
			check("when only a watch from a later version is open", own.seen, false)
			later.stop()
			check("when all watches ended", late.seen, false)
			all, err := k.watch(ctx, client, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer all.Stop()
			check("when only a watch from the present objects is open", late.seen, false)
		})
	}
}

// following is a watch and the version of the last event that was read, as informers keep it.
type following struct {
	watch.Interface
	seen string
}

// next reads the next event.
func (f *following) next(t *testing.T) {
	t.Helper()
	event := <-f.ResultChan()
	object, ok := event.Object.(metav1.Object)
	if !ok {
		t.Fatalf("got event %v", event)
	}
	f.seen = object.GetResourceVersion()
}

// stop ends the watch.
func (f *following) stop() {
	f.Stop()
	for range f.ResultChan() { // ends after the watch is closed
	}
}

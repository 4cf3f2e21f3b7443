// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"celador.io/admission/params"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

var (
	limits     = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "limits"}
	newLimits  = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "newlimits"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

	limitKind     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Limit"}
	configMapKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

	namespacedLimits = metav1.APIResource{Name: "limits", Kind: "Limit", Namespaced: true}
	clusterLimits    = metav1.APIResource{Name: "limits", Kind: "Limit"}
)

// A server is a fake cluster for a source. Objects of kinds that are not served exist, but cannot
// be read or watched.
type server struct {
	*fake.FakeDynamicClient

	mu        sync.Mutex
	resources map[string][]metav1.APIResource
	// Discovery waits until answer is closed, unless it is nil, and then fails with discoveryErr,
	// unless that is nil.
	discoveryErr error
	answer       chan struct{}
	// errs holds errors by verb, or by verb and resource.
	errs map[string]error
	// listTime is how long a list takes.
	listTime time.Duration
	watches  map[*watched]bool
	counts   map[string]int
}

func newServer(objects ...runtime.Object) *server {
	s := &server{
		FakeDynamicClient: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			limits: "LimitList", newLimits: "LimitList", configMaps: "ConfigMapList",
		}, objects...),
		resources: map[string][]metav1.APIResource{},
		errs:      map[string]error{},
		watches:   map[*watched]bool{},
		counts:    map[string]int{},
	}
	s.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		err := s.refusal(action)
		return err != nil, nil, err
	})
	s.PrependWatchReactor("*", s.watch)
	return s
}

// started returns a server and a source that stops when the test ends.
func started(t *testing.T, objects ...runtime.Object) (*server, *paramsource.Source) {
	t.Helper()
	s, stop := newServer(objects...), make(chan struct{})
	t.Cleanup(func() { close(stop) })
	return s, paramsource.New(s, s, 0, nil, stop)
}

func (s *server) ServerResourcesForGroupVersionWithContext(ctx context.Context, gv string) (*metav1.APIResourceList, error) {
	s.mu.Lock()
	answer := s.answer
	s.counts["discover"]++
	s.mu.Unlock()
	if answer != nil {
		select {
		case <-answer:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discoveryErr != nil {
		return nil, s.discoveryErr
	}
	resources, ok := s.resources[gv]
	if !ok {
		return nil, apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{}, "", "", 0, false)
	}
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: slices.Clone(resources)}, nil
}

// serve sets the resources of a group and version; without resources, the version is not served. It
// ends the watches of resources that are not served any more.
func (s *server) serve(gv schema.GroupVersion, resources ...metav1.APIResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resources[gv.String()] = resources; len(resources) == 0 {
		delete(s.resources, gv.String())
	}
	for w := range s.watches {
		if !s.serves(w.resource) {
			w.Interface.Stop()
		}
	}
}

// endWatches ends the watches of a resource. The caller holds the lock.
func (s *server) endWatches(r schema.GroupVersionResource) {
	for w := range s.watches {
		if w.resource == r {
			w.Interface.Stop()
		}
	}
}

func (s *server) serves(r schema.GroupVersionResource) bool {
	return slices.ContainsFunc(s.resources[r.GroupVersion().String()], func(served metav1.APIResource) bool {
		return served.Name == r.Resource
	})
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *server) refusal(action clienttesting.Action) error {
	s.mu.Lock()
	if slow := s.listTime; slow > 0 && action.GetVerb() == "list" {
		s.mu.Unlock()
		time.Sleep(slow)
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	s.counts[action.GetVerb()]++
	for _, key := range []string{action.GetVerb(), action.GetVerb() + " " + action.GetResource().Resource} {
		if err := s.errs[key]; err != nil {
			return err
		}
	}
	if !s.serves(action.GetResource()) {
		return apierrors.NewGenericServerResponse(404, action.GetVerb(), action.GetResource().GroupResource(), "", "", 0, false)
	}
	return nil
}

// A watched watch is registered with the server until it stops.
type watched struct {
	watch.Interface
	server   *server
	resource schema.GroupVersionResource
}

func (w *watched) Stop() {
	w.server.set(func() { delete(w.server.watches, w) })
	w.Interface.Stop()
}

func (s *server) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	if err := s.refusal(action); err != nil {
		return true, nil, err
	}
	started, err := s.Tracker().Watch(action.GetResource(), action.GetNamespace(), action.(clienttesting.WatchActionImpl).ListOptions)
	if err != nil {
		return true, nil, err
	}
	w := &watched{started, s, action.GetResource()}
	s.set(func() { s.watches[w] = true })
	return true, w, nil
}

// count returns the number of requests with a verb.
func (s *server) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[verb]
}

func (s *server) watching() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

func (s *server) create(t *testing.T, r schema.GroupVersionResource, object *unstructured.Unstructured) {
	t.Helper()
	if err := s.Tracker().Create(r, object, object.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

func limit(namespace, name string, labels ...string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit", "max": int64(len(name))}}
	u.SetNamespace(namespace)
	u.SetName(name)
	if len(labels) > 0 {
		u.SetLabels(map[string]string{})
	}
	for _, label := range labels {
		with := u.GetLabels()
		with[label] = "yes"
		u.SetLabels(with)
	}
	return u
}

func names(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.GetName())
	}
	return all
}

// eventually polls a condition in the time of the synctest bubble, independently of the machine's
// speed.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); ; {
		synctest.Wait()
		if holds() {
			return
		}
		if !time.Now().Before(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// synced returns the lister of a kind after its informer has synced.
func synced(t *testing.T, k params.Handle) params.Lister {
	t.Helper()
	l, err := k.Lister(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Second, "params are synced", func() bool { return isSynced(l) })
	return l
}

func isSynced(l params.Lister) bool {
	select {
	case <-l.Synced():
		return true
	default:
		return false
	}
}

// describe returns the scope of a kind, or the error of its lister.
func describe(t *testing.T, k params.Handle) string {
	t.Helper()
	l, err := k.Lister(t.Context())
	if err != nil {
		return fmt.Sprint("error: ", err)
	}
	if !isSynced(l) {
		return "not synced"
	}
	if l.Namespaced() {
		return "namespaced"
	}
	return "cluster-scoped"
}

// A hanging client does not answer requests for single objects.
type hanging struct{ *server }

func (h hanging) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return hangingResource{h.server.Resource(r)}
}

type hangingResource struct {
	dynamic.NamespaceableResourceInterface
}

func (h hangingResource) Namespace(string) dynamic.ResourceInterface { return h }

func (h hangingResource) Get(ctx context.Context, _ string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

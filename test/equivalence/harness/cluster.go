// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	upstreamv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/client-go/clientset/fake"
	policyscheme "celador.io/client-go/clientset/scheme"
	"celador.io/client-go/informers"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// A Cluster is the fake API server that the plugins of Kubernetes and of Celador both watch. It
// belongs to a bubble of the package synctest, in which waiting for informers takes no time.
type Cluster struct {
	// Kube and Dynamic hold the stored objects.
	Kube     *kubefake.Clientset
	policies *fake.Clientset
	Dynamic  *dynamicfake.FakeDynamicClient
	// Client is the client that plugins receive: Kube, unless a suite replaces it before Run.
	Client kubernetes.Interface

	mapper mapper
}

// An Object is an object that a Cluster stores.
type Object interface {
	metav1.Object
	runtime.Object
}

// NewCluster returns a cluster that stores Namespaces and serves ParamKinds.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	listKinds := map[schema.GroupVersionResource]string{}
	for _, kind := range ParamKinds {
		listKinds[kind.Resource] = kind.Kind + "List"
	}
	c := &Cluster{
		Kube:     kubefake.NewSimpleClientset(),
		policies: fake.NewSimpleClientset(),
		Dynamic:  dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), listKinds),
	}
	c.Client = c.Kube
	c.Serve(ParamKinds...)
	for _, name := range Namespaces {
		c.Store(t, Namespace(name))
	}
	return c
}

// Run initializes the plugins and returns when they know all stored objects. They stop at the
// end of the test.
func (c *Cluster) Run(t *testing.T, gates featuregate.FeatureGate, plugins ...admission.Interface) {
	t.Helper()
	// The registry has metrics of each policy of earlier tests, which would make gathering slow.
	legacyregistry.Reset()
	stop := make(chan struct{})
	kubeInformers := kubeinformers.NewSharedInformerFactory(c.Kube, 0)
	policyInformers := informers.NewSharedInformerFactory(c.policies, 0)
	t.Cleanup(func() {
		close(stop)
		kubeInformers.Shutdown()
		policyInformers.Shutdown()
	})
	for _, plugin := range plugins {
		initializer.New(c.Client, c.Dynamic, kubeInformers, authorizer.AuthorizerFunc(Authorize), gates, nil, stop, &c.mapper).Initialize(plugin)
		policyinit.New(policyinit.Config{Client: c.policies, Informers: policyInformers, BuiltIn: builtintypes.Scheme().IsVersionRegistered, TypeChecks: builtintypes.TypeChecks}).Initialize(plugin)
		Must(t, plugin.(admission.InitializationValidator).ValidateInitialization())
	}
	kubeInformers.Start(stop)
	policyInformers.Start(stop)
	c.Settle()
}

// Settle returns when the plugins have seen all changes of the cluster. It sleeps because
// Kubernetes' plugins refresh only every second.
func (c *Cluster) Settle() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// Shuffle changes the order in which Kubernetes' plugins evaluate policies and bindings, so that a
// test can find out what depends on it. The order is that of a map, which the plugins build anew
// after each change of a binding, so Shuffle changes an unrelated one.
func (c *Cluster) Shuffle(t testing.TB) {
	t.Helper()
	unrelated := metav1.ObjectMeta{Name: "unrelated"}
	replace(t, c.Kube.Tracker(), upstreamv1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings"),
		&upstreamv1.ValidatingAdmissionPolicyBinding{ObjectMeta: unrelated, Spec: upstreamv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "unrelated.example.com"}})
	replace(t, c.Kube.Tracker(), upstreamv1.SchemeGroupVersion.WithResource("mutatingadmissionpolicybindings"),
		&upstreamv1.MutatingAdmissionPolicyBinding{ObjectMeta: unrelated, Spec: upstreamv1.MutatingAdmissionPolicyBindingSpec{PolicyName: "unrelated.example.com"}})
	c.Settle()
}

// Store creates or replaces a policy, binding, webhook configuration or parameter for the
// plugins of both sides.
func (c *Cluster) Store(t testing.TB, object Object) {
	t.Helper()
	resource, tracker, typed := c.locate(t, object)
	replace(t, tracker, resource, object)
	if typed != nil {
		Translate(t, object, typed)
		typed.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as clients decode it
		replace(t, c.Kube.Tracker(), resource, typed)
	}
}

// Remove deletes an object for the plugins of both sides.
func (c *Cluster) Remove(t testing.TB, object Object) {
	t.Helper()
	resource, tracker, typed := c.locate(t, object)
	Must(t, tracker.Delete(resource, object.GetNamespace(), object.GetName()))
	if typed != nil {
		Must(t, c.Kube.Tracker().Delete(resource, object.GetNamespace(), object.GetName()))
	}
}

// locate returns the resource of an object, and the tracker of the fake client that stores it.
// Kubernetes' plugins read policies and other built-in objects from another client, Kube, in
// Kubernetes' own Go types. If an object must be stored there, too, typed is an empty object of
// this type, and otherwise nil.
func (c *Cluster) locate(t testing.TB, object Object) (resource schema.GroupVersionResource, tracker clienttesting.ObjectTracker, typed Object) {
	t.Helper()
	kind := object.GetObjectKind().GroupVersionKind()
	tracker = c.Dynamic.Tracker()
	if _, custom := object.(*unstructured.Unstructured); !custom {
		kinds, _, err := policyscheme.Scheme.ObjectKinds(object)
		tracker = c.policies.Tracker()
		if runtime.IsNotRegisteredError(err) {
			kinds, _, err = kubescheme.Scheme.ObjectKinds(object)
			tracker = c.Kube.Tracker()
		}
		Must(t, err)
		kind = kinds[0]
	}
	if known, err := kubescheme.Scheme.New(kind); err == nil && tracker != c.Kube.Tracker() {
		typed = known.(Object)
	}
	resource, _ = meta.UnsafeGuessKindToResource(kind)
	return resource, tracker, typed
}

func replace(t testing.TB, tracker clienttesting.ObjectTracker, resource schema.GroupVersionResource, object Object) {
	t.Helper()
	if _, err := tracker.Get(resource, object.GetNamespace(), object.GetName()); err == nil {
		Must(t, tracker.Update(resource, object, object.GetNamespace()))
		return
	}
	Must(t, tracker.Create(resource, object, object.GetNamespace()))
}

// A ParamType is a kind of params and the resource that serves it.
type ParamType struct {
	Resource   schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// The resources of custom params.
var (
	limits        = schema.GroupVersionResource{Group: "rules.example.com", Version: "v1", Resource: "limits"}
	clusterLimits = schema.GroupVersionResource{Group: "rules.example.com", Version: "v1", Resource: "clusterlimits"}
)

// ParamKinds are kinds of params: built-in and custom, namespaced and cluster-scoped.
var ParamKinds = []ParamType{
	{corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", true},
	{corev1.SchemeGroupVersion.WithResource("namespaces"), "Namespace", false},
	{limits, "Limit", true},
	{clusterLimits, "ClusterLimit", false},
}

// Serve replaces the kinds of params that the cluster serves, so that discovery and the RESTMapper
// know no others.
func (c *Cluster) Serve(kinds ...ParamType) {
	known := meta.NewDefaultRESTMapper(nil)
	lists := map[string]*metav1.APIResourceList{}
	for _, kind := range kinds {
		version, scope := kind.Resource.GroupVersion(), meta.RESTScopeRoot
		if kind.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		known.AddSpecific(version.WithKind(kind.Kind), kind.Resource, kind.Resource, scope)
		list := lists[version.String()]
		if list == nil {
			list = &metav1.APIResourceList{GroupVersion: version.String()}
			lists[version.String()] = list
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: kind.Resource.Resource, Kind: kind.Kind, Namespaced: kind.Namespaced, Verbs: metav1.Verbs{"get", "list", "watch"},
		})
	}
	c.mapper.known.Store(known)
	c.Kube.Resources = slices.Collect(maps.Values(lists))
}

// mapper is a RESTMapper whose kinds may change while plugins use it.
type mapper struct {
	meta.RESTMapper // nil, because plugins only call RESTMapping
	known           atomic.Pointer[meta.DefaultRESTMapper]
}

// RESTMapping implements meta.RESTMapper.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.known.Load().RESTMapping(kind, versions...)
}

// Authorize decides by the verb: it allows reading, denies "refuse", returns an error for
// "fail", and has no opinion on other verbs.
func Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case a.GetVerb() == "refuse":
		return authorizer.DecisionDeny, "you may not", nil
	case a.GetVerb() == "fail":
		return authorizer.DecisionNoOpinion, "cannot tell", errors.New("authorizer is down")
	case a.IsReadOnly(), a.GetVerb() == "read":
		return authorizer.DecisionAllow, "you may read", nil
	default:
		return authorizer.DecisionNoOpinion, "", nil
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"context"
	"encoding/json"
	"errors"
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
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubeinformers "k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/featuregate"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	"celador.io/celador/plugin/pkg/admission/validatingadmissionpolicy"
)

// cluster is what both plugins are given by a server. It lives in a synctest bubble:
// informers have delivered everything when all goroutines wait, and waiting for the
// next refresh takes no time.
type cluster struct {
	celador  admission.ValidationInterface
	upstream admission.ValidationInterface // may be nil

	kube     *kubefake.Clientset
	policies *fake.Clientset
	dynamic  *dynamicfake.FakeDynamicClient
	mapper   *mapper
}

// start returns a cluster with the scenario and, in sync with it, both plugins. It ends
// with the test.
func start(t *testing.T, s scenario) *cluster {
	t.Helper()
	c := newCluster(t, s)
	theirs, err := upstream.NewPlugin(nil)
	must(t, err)
	c.upstream = theirs
	c.run(t, utilfeature.DefaultFeatureGate, theirs)
	return c
}

// newCluster returns a cluster with the scenario. Plugins are yet to run.
func newCluster(t *testing.T, s scenario) *cluster {
	t.Helper()
	c := &cluster{
		kube:     kubefake.NewSimpleClientset(),
		policies: fake.NewSimpleClientset(),
		dynamic:  dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), listKinds()),
		mapper:   &mapper{},
	}
	c.serve(paramKinds...)
	for _, namespace := range namespaces {
		c.setParam(t, namespace)
	}
	for _, param := range s.Params {
		c.setParam(t, param)
	}
	for _, policy := range s.Policies {
		c.setPolicy(t, policy)
	}
	for _, binding := range s.Bindings {
		c.setBinding(t, binding)
	}
	return c
}

// run initializes Celador's plugin, and others, and waits until they know everything.
func (c *cluster) run(t *testing.T, gates featuregate.FeatureGate, others ...admission.Interface) {
	t.Helper()
	stop := make(chan struct{})
	kubeInformers := kubeinformers.NewSharedInformerFactory(c.kube, 0)
	policyInformers := informers.NewSharedInformerFactory(c.policies, 0)
	t.Cleanup(func() {
		close(stop)
		kubeInformers.Shutdown()
		policyInformers.Shutdown()
	})
	ours, err := validatingadmissionpolicy.New(nil)
	must(t, err)
	c.celador = ours
	for _, plugin := range append(others, ours) {
		initializer.New(c.kube, c.dynamic, kubeInformers, authorizer.AuthorizerFunc(authorize), gates, nil, stop, c.mapper).Initialize(plugin)
		kubeadmission.NewInitializer(policyInformers).Initialize(plugin)
		must(t, plugin.(admission.InitializationValidator).ValidateInitialization())
	}
	kubeInformers.Start(stop)
	policyInformers.Start(stop)
	c.settle()
}

// settle waits until both plugins know of all changes. Upstream refreshes every second.
func (c *cluster) settle() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// shuffle has upstream look at policies and bindings in another of its orders: it takes
// them in the order of a map, anew whenever something changes.
func (c *cluster) shuffle(t *testing.T) {
	t.Helper()
	nothing := &upstreamv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "nothing"}}
	nothing.Spec.PolicyName = "nothing.example.com"
	set(t, c.kube.Tracker(), bindingsOf(upstreamv1.SchemeGroupVersion), nothing)
	c.settle()
}

// setPolicy creates or replaces a policy, for both plugins.
func (c *cluster) setPolicy(t *testing.T, policy *v1.ValidatingAdmissionPolicy) {
	t.Helper()
	set(t, c.policies.Tracker(), policiesOf(v1.SchemeGroupVersion), policy)
	set(t, c.kube.Tracker(), policiesOf(upstreamv1.SchemeGroupVersion), translate(t, policy, &upstreamv1.ValidatingAdmissionPolicy{}))
}

// removePolicy deletes a policy, for both plugins.
func (c *cluster) removePolicy(t *testing.T, name string) {
	t.Helper()
	must(t, c.policies.Tracker().Delete(policiesOf(v1.SchemeGroupVersion), "", name))
	must(t, c.kube.Tracker().Delete(policiesOf(upstreamv1.SchemeGroupVersion), "", name))
}

// setBinding creates or replaces a binding, for both plugins.
func (c *cluster) setBinding(t *testing.T, binding *v1.ValidatingAdmissionPolicyBinding) {
	t.Helper()
	set(t, c.policies.Tracker(), bindingsOf(v1.SchemeGroupVersion), binding)
	set(t, c.kube.Tracker(), bindingsOf(upstreamv1.SchemeGroupVersion), translate(t, binding, &upstreamv1.ValidatingAdmissionPolicyBinding{}))
}

// removeBinding deletes a binding, for both plugins.
func (c *cluster) removeBinding(t *testing.T, name string) {
	t.Helper()
	must(t, c.policies.Tracker().Delete(bindingsOf(v1.SchemeGroupVersion), "", name))
	must(t, c.kube.Tracker().Delete(bindingsOf(upstreamv1.SchemeGroupVersion), "", name))
}

func policiesOf(version schema.GroupVersion) schema.GroupVersionResource {
	return version.WithResource("validatingadmissionpolicies")
}

func bindingsOf(version schema.GroupVersion) schema.GroupVersionResource {
	return version.WithResource("validatingadmissionpolicybindings")
}

// setParam creates or replaces an object where both plugins look for it: as JSON and,
// where it is of a built-in type, as what decoders of clients make of that.
func (c *cluster) setParam(t *testing.T, param *unstructured.Unstructured) {
	t.Helper()
	resource := resourceOf(param)
	set(t, c.dynamic.Tracker(), resource, param)
	switch resource.Resource {
	case "configmaps":
		typed := translate(t, param, &corev1.ConfigMap{})
		typed.TypeMeta = metav1.TypeMeta{}
		set(t, c.kube.Tracker(), resource, typed)
	case "namespaces":
		typed := translate(t, param, &corev1.Namespace{})
		typed.TypeMeta = metav1.TypeMeta{}
		set(t, c.kube.Tracker(), resource, typed)
	}
}

// removeParam deletes an object.
func (c *cluster) removeParam(t *testing.T, param *unstructured.Unstructured) {
	t.Helper()
	resource := resourceOf(param)
	must(t, c.dynamic.Tracker().Delete(resource, param.GetNamespace(), param.GetName()))
	if resource.Group == "" {
		must(t, c.kube.Tracker().Delete(resource, param.GetNamespace(), param.GetName()))
	}
}

// served is a kind of params that the cluster serves.
type served struct {
	resource   schema.GroupVersionResource
	kind       string
	namespaced bool
}

// paramKinds are built-in and custom kinds of either scope.
var paramKinds = []served{
	{corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", true},
	{corev1.SchemeGroupVersion.WithResource("namespaces"), "Namespace", false},
	{schema.GroupVersionResource{Group: "rules.example.com", Version: "v1", Resource: "limits"}, "Limit", true},
	{schema.GroupVersionResource{Group: "rules.example.com", Version: "v1", Resource: "clusterlimits"}, "ClusterLimit", false},
}

func listKinds() map[schema.GroupVersionResource]string {
	result := map[schema.GroupVersionResource]string{}
	for _, s := range paramKinds {
		result[s.resource] = s.kind + "List"
	}
	return result
}

func resourceOf(param *unstructured.Unstructured) schema.GroupVersionResource {
	for _, s := range paramKinds {
		if s.kind == param.GetKind() {
			return s.resource
		}
	}
	return schema.GroupVersionResource{}
}

// serve has discovery and the REST mapper know the given kinds and no others.
func (c *cluster) serve(kinds ...served) {
	known := meta.NewDefaultRESTMapper(nil)
	lists := map[string]*metav1.APIResourceList{}
	for _, s := range kinds {
		version, scope := s.resource.GroupVersion(), meta.RESTScopeRoot
		if s.namespaced {
			scope = meta.RESTScopeNamespace
		}
		known.AddSpecific(version.WithKind(s.kind), s.resource, s.resource, scope)
		list := lists[version.String()]
		if list == nil {
			list = &metav1.APIResourceList{GroupVersion: version.String()}
			lists[version.String()] = list
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: s.resource.Resource, Kind: s.kind, Namespaced: s.namespaced, Verbs: metav1.Verbs{"get", "list", "watch"},
		})
	}
	c.mapper.known.Store(known)
	c.kube.Resources = nil
	for _, list := range lists {
		c.kube.Resources = append(c.kube.Resources, list)
	}
}

// mapper maps the kinds that are served at the time.
type mapper struct {
	meta.RESTMapper // nil: plugins ask for mappings only
	known           atomic.Pointer[meta.DefaultRESTMapper]
}

// RESTMapping implements meta.RESTMapper.
func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.known.Load().RESTMapping(kind, versions...)
}

// authorize decides by verb.
func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
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

// set creates or replaces an object.
func set[T interface {
	metav1.Object
	runtime.Object
}](t *testing.T, tracker clienttesting.ObjectTracker, resource schema.GroupVersionResource, object T) {
	t.Helper()
	if _, err := tracker.Get(resource, object.GetNamespace(), object.GetName()); err == nil {
		must(t, tracker.Update(resource, object, object.GetNamespace()))
		return
	}
	must(t, tracker.Create(resource, object, object.GetNamespace()))
}

// translate returns an object as another type of the same JSON.
func translate[T any](t *testing.T, from any, to T) T {
	t.Helper()
	manifest, err := json.Marshal(from)
	must(t, err)
	must(t, json.Unmarshal(manifest, to))
	return to
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

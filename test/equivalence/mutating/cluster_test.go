// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"context"
	"encoding/json"
	"errors"
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
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/openapi"
	"k8s.io/component-base/featuregate"

	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	"celador.io/celador/plugin/pkg/admission/mutatingadmissionpolicy"
)

// cluster is what both plugins are given by a server. It lives in a synctest bubble:
// informers have delivered everything when all goroutines wait, and waiting for the
// next refresh takes no time.
type cluster struct {
	scenario
	celador, upstream admission.MutationInterface
	kube              *kubefake.Clientset
	// observed are all observations of metrics so far.
	observed map[string]float64
}

// start returns a cluster with the scenario and, in sync with it, both plugins. It ends
// with the test.
func start(t *testing.T, s scenario) *cluster {
	t.Helper()
	return startWith(t, s, utilfeature.DefaultFeatureGate)
}

// startWith returns a cluster with feature gates.
func startWith(t *testing.T, s scenario, gates featuregate.FeatureGate) *cluster {
	t.Helper()
	theirs, err := upstream.NewPlugin(nil)
	must(t, err)
	ours, err := mutatingadmissionpolicy.New(nil)
	must(t, err)
	c := &cluster{scenario: s, celador: ours, upstream: theirs, kube: kubefake.NewSimpleClientset()}
	c.kube.Resources = resources
	policies := fake.NewSimpleClientset()
	params := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		limits: "LimitList", configMaps: "ConfigMapList",
	})
	for name := range namespaces {
		must(t, c.kube.Tracker().Add(space(name)))
	}
	for _, policy := range s.Policies {
		must(t, policies.Tracker().Add(policy))
		must(t, c.kube.Tracker().Add(translate(t, policy, &upstreamv1.MutatingAdmissionPolicy{})))
	}
	for _, binding := range s.Bindings {
		must(t, policies.Tracker().Add(binding))
		must(t, c.kube.Tracker().Add(translate(t, binding, &upstreamv1.MutatingAdmissionPolicyBinding{})))
	}
	for _, param := range s.Params {
		if param.GetKind() == "Limit" {
			must(t, params.Tracker().Create(limits, param, param.GetNamespace()))
			continue
		}
		must(t, params.Tracker().Create(configMaps, param, param.GetNamespace()))
		// What decoders of clients make of it.
		typed := translate(t, param, &corev1.ConfigMap{})
		typed.TypeMeta = metav1.TypeMeta{}
		must(t, c.kube.Tracker().Add(typed))
	}

	stop := make(chan struct{})
	kubeInformers := kubeinformers.NewSharedInformerFactory(c.kube, 0)
	policyInformers := informers.NewSharedInformerFactory(policies, 0)
	t.Cleanup(func() {
		close(stop)
		kubeInformers.Shutdown()
		policyInformers.Shutdown()
	})
	for _, plugin := range []admission.Interface{theirs, ours} {
		initializer.New(client{c.kube}, params, kubeInformers, authorizer.AuthorizerFunc(authorize), gates, nil, stop, mapper()).Initialize(plugin)
		kubeadmission.NewInitializer(policyInformers).Initialize(plugin)
		must(t, plugin.(admission.InitializationValidator).ValidateInitialization())
	}
	kubeInformers.Start(stop)
	policyInformers.Start(stop)
	settle()
	c.observed = counts(t)
	return c
}

// settle waits until both plugins know everything. Upstream refreshes every second.
func settle() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// shuffle has upstream look at policies and bindings in another of its orders: it takes
// them in the order of a map, anew whenever something changes.
func (c *cluster) shuffle(t *testing.T) {
	t.Helper()
	nothing := &upstreamv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "nothing"}}
	nothing.Spec.PolicyName = "nothing.example.com"
	resource := upstreamv1.SchemeGroupVersion.WithResource("mutatingadmissionpolicybindings")
	if c.kube.Tracker().Update(resource, nothing, "") != nil {
		must(t, c.kube.Tracker().Add(nothing))
	}
	settle()
}

// client is one of a server that publishes schemas.
type client struct{ kubernetes.Interface }

// Discovery implements kubernetes.Interface.
func (c client) Discovery() discovery.DiscoveryInterfaces {
	return publishing{c.Interface.Discovery()}
}

type publishing struct{ discovery.DiscoveryInterfaces }

// OpenAPIV3 implements discovery.OpenAPIV3SchemaInterface.
func (publishing) OpenAPIV3() openapi.Client { return published() }

// Kinds that params are of.
var (
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	limits     = schema.GroupVersionResource{Group: "rules.example.com", Version: "v1", Resource: "limits"}
	resources  = []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}}}},
		{GroupVersion: "rules.example.com/v1", APIResources: []metav1.APIResource{{Name: "limits", Kind: "Limit", Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}}}},
	}
)

func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.AddSpecific(configMaps.GroupVersion().WithKind("ConfigMap"), configMaps, configMaps, meta.RESTScopeNamespace)
	m.AddSpecific(limits.GroupVersion().WithKind("Limit"), limits, limits, meta.RESTScopeNamespace)
	return m
}

// param returns an object as a server sends it.
func param(apiVersion, kind, namespace, name string, fields ...any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	for i := 0; i+1 < len(fields); i += 2 {
		object.Object[fields[i].(string)] = fields[i+1]
	}
	return object
}

func limit(namespace, name string, most int64, set string) *unstructured.Unstructured {
	object := param("rules.example.com/v1", "Limit", namespace, name, "spec", map[string]any{"most": most})
	object.SetLabels(map[string]string{"set": set})
	return object
}

func configMap(namespace, name, most string) *unstructured.Unstructured {
	return param("v1", "ConfigMap", namespace, name, "data", map[string]any{"most": most})
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

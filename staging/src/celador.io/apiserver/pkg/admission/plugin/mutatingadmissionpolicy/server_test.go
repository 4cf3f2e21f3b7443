// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	upstreamfeatures "k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/typechecks"
	_ "celador.io/apiserver/pkg/features" // registers the gates
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // discards the log of informers
	m.Run()
}

// server holds the dependencies that kube-apiserver injects into a plugin.
type server struct {
	gates           featuregate.FeatureGate
	kube            *kubefake.Clientset
	kubeInformers   kubeinformers.SharedInformerFactory
	policies        *fake.Clientset
	policyInformers informers.SharedInformerFactory
	stop            chan struct{}
}

// newServer returns a server that stores the given policies and bindings. enabled is the feature
// gate of the kind, alpha the gates of alpha fields. The server stops when the test ends.
func newServer(t *testing.T, enabled, alpha bool, objects ...runtime.Object) *server {
	t.Helper()
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	set := map[string]bool{string(upstreamfeatures.MutatingAdmissionPolicy): enabled, string(upstreamfeatures.ManifestBasedAdmissionControlConfig): true}
	for feature := range policyspec.FeaturesOf(gates) {
		set[string(feature)] = alpha
	}
	if err := gates.SetFromMap(set); err != nil {
		t.Fatal(err)
	}
	s := &server{
		gates: gates,
		kube:  kubefake.NewSimpleClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "blue"}}),
		stop:  make(chan struct{}),
	}
	s.kubeInformers = kubeinformers.NewSharedInformerFactory(s.kube, 0)
	s.policies = fake.NewSimpleClientset(objects...)
	s.policyInformers = informers.NewSharedInformerFactory(s.policies, 0)
	t.Cleanup(func() {
		close(s.stop)
		s.kubeInformers.Shutdown()
		s.policyInformers.Shutdown()
	})
	return s
}

// initialize injects the dependencies into a plugin and validates its initialization.
func (s *server) initialize(plugin admission.Interface) error {
	admission.PluginInitializers{
		initializer.NewAPIServerIDInitializer("the-server"),
		initializer.New(client{s.kube}, dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), s.kubeInformers, authorizer.AuthorizerFunc(denyAll), s.gates, nil, s.stop,
			meta.NewDefaultRESTMapper(nil)),
		policyinit.New(policyinit.Config{Client: s.policies, Informers: s.policyInformers, TypeChecks: typechecks.NewValidator(newConfigMaps)}),
	}.Initialize(plugin)
	return plugin.(admission.InitializationValidator).ValidateInitialization()
}

// start starts all informers and waits until they are synced.
func (s *server) start() {
	s.kubeInformers.Start(s.stop)
	s.policyInformers.Start(s.stop)
	synctest.Wait()
}

// configMaps are the types of a server whose only kind is ConfigMap, with nothing but data.
type configMaps struct{ meta.RESTMapper }

func newConfigMaps() typecheck.Types {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return configMaps{mapper}
}

// ResolveSchema implements typecheck.Types.
func (configMaps) ResolveSchema(schema.GroupVersionKind) (*spec.Schema, error) {
	properties := map[string]spec.Schema{"data": *spec.MapProperty(spec.StringProperty())}
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: properties}}, nil
}

func denyAll(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}

// client is a client of a server whose OpenAPI schema has no kinds. JSON patches need no more.
type client struct{ kubernetes.Interface }

// Discovery implements kubernetes.Interface.
func (c client) Discovery() discovery.DiscoveryInterfaces {
	return publishing{c.Interface.Discovery()}
}

type publishing struct{ discovery.DiscoveryInterfaces }

// OpenAPIV3 implements discovery.OpenAPIV3SchemaInterface.
func (publishing) OpenAPIV3() openapi.Client { return document{} }

type document struct{}

// Paths implements openapi.Client.
func (d document) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{"api/v1": d}, nil
}

// Schema implements openapi.GroupVersion.
func (document) Schema(string) ([]byte, error) {
	return []byte(`{"openapi": "3.0.0", "components": {}}`), nil
}

// ServerRelativeURL implements openapi.GroupVersion.
func (document) ServerRelativeURL() string { return "/openapi/v3/api/v1" }

// started returns a plugin that follows the given policies and bindings.
func started(t *testing.T, inline bool, objects ...runtime.Object) *mutatingadmissionpolicy.Plugin {
	t.Helper()
	s := newServer(t, true, inline, objects...)
	plugin := newPlugin(t, "")
	if err := s.initialize(plugin); err != nil {
		t.Fatal(err)
	}
	s.start()
	return plugin
}

// newPlugin returns a plugin that reads manifest files from dir, which may be empty for none.
func newPlugin(t *testing.T, dir string) *mutatingadmissionpolicy.Plugin {
	t.Helper()
	plugin, err := mutatingadmissionpolicy.New(strings.NewReader(header + "staticManifestsDir: " + dir + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

const header = "apiVersion: apiserver.config.k8s.io/v1\nkind: MutatingAdmissionPolicyConfiguration\n"

// create sends a request to create a config map with the data {"a": "1"}. It returns the data after
// admission, and the status of the error or nil.
func create(t *testing.T, plugin *mutatingadmissionpolicy.Plugin) (map[string]string, *metav1.Status) {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "blue"}, Data: map[string]string{"a": "1"}}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	request := admission.NewAttributesRecord(sent, nil, kind, "blue", "data", kind.GroupVersion().WithResource("configmaps"), "", admission.Create,
		&metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "somebody"})
	err := plugin.Admit(t.Context(), request, admission.NewObjectInterfacesFromScheme(kubescheme.Scheme))
	if err == nil {
		return sent.Data, nil
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		t.Fatalf("got error %v, want an API status", err)
	}
	return sent.Data, new(status.Status())
}

func bindingOf(policy string) *v1.MutatingAdmissionPolicyBinding {
	return &v1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy}, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy}}
}

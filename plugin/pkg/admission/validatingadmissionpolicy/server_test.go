// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"context"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/warning"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubeinformers "k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})   // discards the log of informers and upstream's plugin
	utilruntime.ErrorHandlers = nil // they sleep, which would block a bubble of synctest
	m.Run()
}

// server holds the dependencies that kube-apiserver injects into plugins.
type server struct {
	gates      featuregate.FeatureGate
	kube       *kubefake.Clientset
	policies   *fake.Clientset
	params     *dynamicfake.FakeDynamicClient
	authorizer authorizer.Authorizer
	freshness  policyinit.FreshnessBound

	kubeInformers   kubeinformers.SharedInformerFactory
	policyInformers informers.SharedInformerFactory
	stop            chan struct{}
}

// newServer returns a server that stores the given objects of Celador's kinds and three namespaces.
// The server stops when the test ends.
func newServer(t testing.TB, objects ...runtime.Object) *server {
	t.Helper()
	s := &server{
		gates:    utilfeature.DefaultFeatureGate,
		kube:     kubefake.NewSimpleClientset(space("blue"), space("red"), space("late")),
		policies: fake.NewSimpleClientset(objects...),
		params: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{{Version: "v1", Resource: "configmaps"}: "ConfigMapList"}),
		authorizer: authorizer.AuthorizerFunc(readOnly),
		stop:       make(chan struct{}),
	}
	s.kubeInformers = kubeinformers.NewSharedInformerFactory(s.kube, 0)
	s.policyInformers = informers.NewSharedInformerFactory(s.policies, 0)
	t.Cleanup(func() {
		close(s.stop)
		s.kubeInformers.Shutdown()
		s.policyInformers.Shutdown()
	})
	return s
}

func space(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:            name,
		Labels:          map[string]string{"name": name},
		Annotations:     map[string]string{"purpose": "test"},
		OwnerReferences: []metav1.OwnerReference{{Name: "owner"}},
	}}
}

func readOnly(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.IsReadOnly() || a.GetVerb() == "read" {
		return authorizer.DecisionAllow, "you may read", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// initialize injects the dependencies into a plugin and validates its initialization.
func (s *server) initialize(t testing.TB, plugin admission.Interface) {
	t.Helper()
	initializer.New(s.kube, s.params, s.kubeInformers, s.authorizer, s.gates, nil, s.stop, meta.NewDefaultRESTMapper(nil)).Initialize(plugin)
	policyinit.New(policyinit.Config{Client: s.policies, Informers: s.policyInformers, Freshness: s.freshness}).Initialize(plugin)
	if err := plugin.(admission.InitializationValidator).ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
}

// start starts all informers and waits until they are synced.
func (s *server) start() {
	s.kubeInformers.Start(s.stop)
	s.policyInformers.Start(s.stop)
	synctest.Wait()
}

// started returns a plugin that follows the given policies and bindings.
func started(t *testing.T, objects ...runtime.Object) (*validatingadmissionpolicy.Plugin, *server) {
	t.Helper()
	s := newServer(t, objects...)
	plugin := newPlugin(t)
	s.initialize(t, plugin)
	s.start()
	return plugin, s
}

func newPlugin(t testing.TB) *validatingadmissionpolicy.Plugin {
	t.Helper()
	plugin, err := validatingadmissionpolicy.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

// response holds the results of admission that a client and the audit log see.
type response struct {
	Err         error
	Warnings    []string
	Annotations map[string]string
}

// send returns the response of a plugin to a request.
func send(t *testing.T, plugin admission.ValidationInterface, a admission.Attributes, objects admission.ObjectInterfaces) response {
	t.Helper()
	recorded := &recorder{Attributes: a}
	ctx := warning.WithWarningRecorder(t.Context(), recorded)
	recorded.Err = plugin.Validate(ctx, recorded, objects)
	return recorded.response
}

// recorder records the warnings and audit annotations for a request.
type recorder struct {
	admission.Attributes
	response
}

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(_, text string) { r.Warnings = append(r.Warnings, text) }

// AddAnnotation implements admission.Attributes.
func (r *recorder) AddAnnotation(key, value string) error {
	if err := r.Attributes.AddAnnotation(key, value); err != nil {
		return err
	}
	if r.Annotations == nil {
		r.Annotations = map[string]string{}
	}
	r.Annotations[key] = value
	return nil
}

// emptyInformers returns informers of a server without objects.
func emptyInformers() kubeinformers.SharedInformerFactory {
	return kubeinformers.NewSharedInformerFactory(kubefake.NewSimpleClientset(), 0)
}

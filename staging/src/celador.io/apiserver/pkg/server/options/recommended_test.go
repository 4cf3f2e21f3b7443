// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	"celador.io/apiserver/pkg/server/options"
)

// widgets is a kind that only the aggregated server has.
var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// A mainServer serves a namespace, a policy and its binding, and empty lists of everything else.
// Its objects do not change.
type mainServer struct {
	kubeconfig string
	// lacks reports whether clients lack a permission. It is nil if they may do everything.
	lacks atomic.Pointer[func(*authorizationv1.ResourceAttributes) bool]
}

func newMainServer(t *testing.T) *mainServer {
	t.Helper()
	main := &mainServer{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	rule := policytest.Rule(widgets.Group, widgets.Version, widgets.Resource)
	policy := policytest.Validating("small", v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: policytest.Match(v1.Equivalent, rule), Validations: policytest.Validations("object.spec.size <= 5"),
	})
	const group = "/apis/admissionregistration.k8s.io/v1/"
	lists := map[string]any{
		"/api/v1/namespaces":                        corev1.NamespaceList{Items: []corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "blue"}}}},
		group + "validatingadmissionpolicies":       v1.ValidatingAdmissionPolicyList{Items: []v1.ValidatingAdmissionPolicy{*policy}},
		group + "validatingadmissionpolicybindings": v1.ValidatingAdmissionPolicyBindingList{Items: []v1.ValidatingAdmissionPolicyBinding{*policytest.Binding("small", "small", v1.Deny)}},
		group + "mutatingadmissionpolicies":         v1.MutatingAdmissionPolicyList{},
		group + "mutatingadmissionpolicybindings":   v1.MutatingAdmissionPolicyBindingList{},
		group + "validatingwebhookconfigurations":   metav1.List{},
		group + "mutatingwebhookconfigurations":     metav1.List{},
	}
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list, ok := lists[r.URL.Path]
		switch {
		case r.URL.Path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
			main.review(t, w, r)
		case !ok || r.URL.Query().Has("sendInitialEvents"):
			http.Error(w, "not served", http.StatusNotFound)
		case r.URL.Query().Has("watch"):
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-stop:
			}
		default:
			w.Header().Set("Content-Type", runtime.ContentTypeJSON)
			if err := json.NewEncoder(w).Encode(list); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(func() {
		close(stop)
		server.Close()
	})

	config := clientcmdapi.NewConfig()
	config.Clusters["main"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["main"] = &clientcmdapi.Context{Cluster: "main"}
	config.CurrentContext = "main"
	if err := clientcmd.WriteToFile(*config, main.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return main
}

// review answers whether the client has a permission.
func (m *mainServer) review(t *testing.T, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
		return
	}
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	review, ok := decoded.(*authorizationv1.SelfSubjectAccessReview)
	if !ok {
		t.Errorf("%T is no review: %v", decoded, err)
		return
	}
	lacks := m.lacks.Load()
	review.Status.Allowed = lacks == nil || !(*lacks)(review.Spec.ResourceAttributes)
	review.SetGroupVersionKind(authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"))
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	if err := json.NewEncoder(w).Encode(review); err != nil {
		t.Error(err)
	}
}

// recommended runs a server with the options of the example.
func recommended(t *testing.T, main *mainServer) (*genericapiserver.RecommendedConfig, *genericapiserver.GenericAPIServer) {
	t.Helper()
	o := genericoptions.NewRecommendedOptions("", nil)
	o.Etcd, o.Authentication, o.Authorization, o.Features = nil, nil, nil, nil
	var err error
	if o.SecureServing.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	o.SecureServing.ServerCert.CertDirectory = t.TempDir()
	if err := o.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, nil); err != nil {
		t.Fatal(err)
	}
	o.CoreAPI.CoreAPIKubeconfigPath = main.kubeconfig
	o.Admission.Plugins = options.NewPlugins(o.Admission.Plugins)
	o.ExtraAdmissionInitializers = options.NewInitializers

	config := genericapiserver.NewRecommendedConfig(scheme.Codecs)
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	if err := o.ApplyTo(config); err != nil {
		t.Fatal(err)
	}
	server, err := config.Complete().New("widgets", genericapiserver.NewEmptyDelegate())
	if err != nil {
		t.Fatal(err)
	}
	prepared := server.PrepareRun()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- prepared.RunWithContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return config, server
}

// create sends a request to create a widget through the admission chain of a server.
func create(t *testing.T, config *genericapiserver.RecommendedConfig, size int64) error {
	t.Helper()
	kind := widgets.GroupVersion().WithKind("Widget")
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	object.SetGroupVersionKind(kind)
	object.SetName("w")
	object.SetNamespace("blue")
	a := admission.NewAttributesRecord(object, nil, kind, "blue", "w", widgets, "", admission.Create, &metav1.CreateOptions{}, false, nil)
	objects := admission.NewObjectInterfacesFromScheme(runtime.NewScheme())
	if err := config.AdmissionControl.(admission.MutationInterface).Admit(t.Context(), a, objects); err != nil {
		return err
	}
	return config.AdmissionControl.(admission.ValidationInterface).Validate(t.Context(), a, objects)
}

// TestRecommendedOptions shows that a server with the options of the example is ready once it knows
// the policies of its main server, and denies what they deny.
func TestRecommendedOptions(t *testing.T) {
	config, server := recommended(t, newMainServer(t))
	ready := func() string {
		return send(server.Handler, http.MethodGet, "/readyz/policy-informer-sync").Body.String()
	}
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return ready() == "ok", nil })
	if err != nil {
		t.Fatalf("/readyz says %s", ready())
	}

	if err := create(t, config, 5); err != nil {
		t.Errorf("a small widget is denied: %v", err)
	}
	const denied = "ValidatingAdmissionPolicy 'small' with binding 'small' denied request"
	if err := create(t, config, 6); err == nil || !strings.Contains(err.Error(), denied) {
		t.Errorf("got %v for a big widget, want an error with %q", err, denied)
	}
}

func TestInitializersNeedAClient(t *testing.T) {
	config := genericapiserver.NewRecommendedConfig(codecs)
	expectError := func(want string) {
		t.Helper()
		if _, err := options.NewInitializers(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	expectError("set the CoreAPI options")
	config.ClientConfig = &rest.Config{}
	expectError("set the SecureServing options")
}

// The registry has Celador's plugins in the place of Kubernetes', and the plugins that only the
// server has.
func TestNewPlugins(t *testing.T) {
	o := genericoptions.NewAdmissionOptions()
	plugins := options.NewPlugins(o.Plugins)
	if got, want := plugins.Registered(), o.Plugins.Registered(); !slices.Equal(got, want) {
		t.Errorf("got plugins %v, want %v", got, want)
	}
	for name, want := range map[string]func(admission.Interface) bool{
		"ValidatingAdmissionPolicy": func(p admission.Interface) bool { _, ok := p.(*validatingadmissionpolicy.Plugin); return ok },
		"MutatingAdmissionPolicy":   func(p admission.Interface) bool { _, ok := p.(*mutatingadmissionpolicy.Plugin); return ok },
	} {
		if plugin, err := plugins.InitPlugin(name, nil, admission.PluginInitializers{}); err != nil || !want(plugin) {
			t.Errorf("%s is a %T, error %v", name, plugin, err)
		}
	}
}

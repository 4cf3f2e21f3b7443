// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	upstreamv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/dynamic"
	restclient "k8s.io/client-go/rest"
	openapicommon "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/yaml"

	"celador.io/celador/pkg/apis/admissionregistration/install"
	"celador.io/celador/pkg/generated/openapi"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// webhookKinds maps resources to the kinds that they serve.
var webhookKinds = map[string]string{
	"validatingwebhookconfigurations": "ValidatingWebhookConfiguration",
	"mutatingwebhookconfigurations":   "MutatingWebhookConfiguration",
}

// webhookServer is a generic API server with the group, which allows every request and runs no
// admission plugins.
type webhookServer struct {
	server
	client   dynamic.Interface
	warnings *warnings
}

// warnings collects the texts of Warning headers.
type warnings []string

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	*w = append(*w, text)
}

// taken returns the warnings since the last call and removes them.
func (w *warnings) taken() []string {
	taken := *w
	*w = nil
	return taken
}

func newWebhookServer(t *testing.T) webhookServer {
	t.Helper()
	s := newServer(t, runtime.ContentTypeProtobuf, "", false)
	group := s.install(t, runtime.ContentTypeProtobuf)

	models := runtime.NewScheme()
	install.Versions(models)
	url := serve(t, group, openapi.GetMergedOpenAPIDefinitions, models)
	collected := new(warnings)
	client, err := dynamic.NewForConfig(&restclient.Config{Host: url, QPS: -1, WarningHandlerWithContext: collected})
	if err != nil {
		t.Fatal(err)
	}
	return webhookServer{s, client, collected}
}

// userHeader is the header that names the user of a request: alice, otherwise root.
const userHeader = "X-Test-User"

// serve starts a generic API server with the group, which allows every request and runs no
// admission plugins, and returns its URL. Its OpenAPI document has the definitions of models.
func serve(t *testing.T, group genericapiserver.APIGroupInfo, definitions openapicommon.GetOpenAPIDefinitions, models *runtime.Scheme) string {
	t.Helper()
	config := genericapiserver.NewConfig(scheme.Codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.ExternalAddress = "127.0.0.1:443"
	config.LoopbackClientConfig = &restclient.Config{}
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, openapinamer.NewDefinitionNamer(legacyscheme.Scheme, models))
	serving, err := config.Complete(nil).New(t.Name(), genericapiserver.NewEmptyDelegate())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(serving.Destroy)
	if err := serving.InstallAPIGroup(&group); err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := root
		if r.Header.Get(userHeader) == alice.Name {
			who = alice
		}
		serving.Handler.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), who)))
	}))
	t.Cleanup(listening.Close)
	return listening.URL
}

func (s webhookServer) resource(resource string) dynamic.ResourceInterface {
	return s.client.Resource(upstreamv1.SchemeGroupVersion.WithResource(resource))
}

// create creates a configuration.
func (s webhookServer) create(t *testing.T, resource, name, webhooks string) *unstructured.Unstructured {
	t.Helper()
	created, err := s.resource(resource).Create(t.Context(), configuration(t, resource, name, webhooks), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// put writes a configuration to etcd directly, as a server of another version may have.
func (s webhookServer) put(t *testing.T, resource, name, webhooks string) *unstructured.Unstructured {
	t.Helper()
	obj := configuration(t, resource, name, webhooks)
	obj.SetUID("7")
	obj.SetGeneration(1)
	obj.SetCreationTimestamp(metav1.Unix(1, 0))
	text, err := obj.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.etcd.KV.Put(t.Context(), s.config.Prefix+"/"+resource+"/"+name, string(text)); err != nil {
		t.Fatal(err)
	}
	stored, err := s.resource(resource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// remove deletes a configuration.
func (s webhookServer) remove(t *testing.T, resource, name string) {
	if err := s.resource(resource).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// configuration returns a webhook configuration with webhooks, a list in YAML.
func configuration(t *testing.T, resource, name, webhooks string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("metadata: {name: "+name+"}\nwebhooks:"+webhooks), &obj.Object); err != nil {
		t.Fatalf("%v:\n%s", err, webhooks)
	}
	obj.SetGroupVersionKind(upstreamv1.SchemeGroupVersion.WithKind(webhookKinds[resource]))
	return obj
}

// webhook returns the YAML of a list element: a valid webhook with more fields.
func webhook(name, fields string) string {
	return `
- name: ` + name + `.example.com
  clientConfig: {url: "https://127.0.0.1:1/"}
  admissionReviewVersions: [v1]
  sideEffects: None
  ` + fields
}

// conditions returns the sorted conditions of all webhooks as "webhook name: expression".
func conditions(t *testing.T, obj *unstructured.Unstructured) []string {
	t.Helper()
	var found []string
	webhooks, _, err := unstructured.NestedSlice(obj.Object, "webhooks")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range webhooks {
		list, _, err := unstructured.NestedSlice(w.(map[string]any), "matchConditions")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			condition := c.(map[string]any)
			found = append(found, w.(map[string]any)["name"].(string)+" "+condition["name"].(string)+": "+condition["expression"].(string))
		}
	}
	slices.Sort(found)
	return found
}

// causes returns the causes of an invalid error as "field: message", or none for a nil error.
func causes(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	status, _ := err.(apierrors.APIStatus)
	if !apierrors.IsInvalid(err) || status == nil {
		t.Fatalf("got error %v, want none or an invalid object", err)
	}
	var found []string
	for _, cause := range status.Status().Details.Causes {
		found = append(found, cause.Field+": "+strings.TrimRight(cause.Message, "\n"))
	}
	return found
}

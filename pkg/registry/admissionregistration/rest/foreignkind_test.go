// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apiserver/pkg/authentication/user"
	genericfeatures "k8s.io/apiserver/pkg/features"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	kubernetesopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	upstreamrest "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
	"celador.io/celador/pkg/apis/admissionregistration/install"
	"celador.io/celador/pkg/generated/openapi"
)

// validObjects maps each resource to a valid object, in YAML and without apiVersion.
var validObjects = map[string]string{
	"validatingadmissionpolicies": `
kind: ValidatingAdmissionPolicy
metadata: {name: demo}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "true"}]`,
	"validatingadmissionpolicybindings": `
kind: ValidatingAdmissionPolicyBinding
metadata: {name: demo}
spec: {policyName: demo, validationActions: [Deny]}`,
	"mutatingadmissionpolicies": `
kind: MutatingAdmissionPolicy
metadata: {name: demo}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  reinvocationPolicy: Never
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'remove', path: '/spec'}]"}}]`,
	"mutatingadmissionpolicybindings": `
kind: MutatingAdmissionPolicyBinding
metadata: {name: demo}
spec: {policyName: demo}`,
	"validatingwebhookconfigurations": `
kind: ValidatingWebhookConfiguration
metadata: {name: demo}
webhooks: []`,
	"mutatingwebhookconfigurations": `
kind: MutatingWebhookConfiguration
metadata: {name: demo}
webhooks: []`,
}

// sentKinds returns the kinds of the bodies that the test sends to the resource of kind own.
func sentKinds(own string) []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{
		{Version: "v1", Kind: "Pod"},
		{Version: "v1", Kind: "List"},
		{Version: "v1", Kind: "Status"},
		{Version: "v1", Kind: own},
		{Version: "v2", Kind: "Pod"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apps", Version: "v1beta2", Kind: "DeploymentList"},
		{Group: "apps", Version: "__internal", Kind: "Deployment"},
		{Group: "rules.example.com", Version: "v1", Kind: "ReplicaLimit"},
		{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"},
		{Group: v1.GroupName, Version: "v1", Kind: "Unheard"},
		{Group: v1.GroupName, Version: "v1", Kind: "DeleteOptions"},
		{Group: v1.GroupName, Version: "v1", Kind: own + "List"},
		{Group: v1.GroupName, Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"},
		{Group: v1.GroupName, Version: "v1alpha1", Kind: "MutatingAdmissionPolicy"},
		{Group: v1.GroupName, Version: "v1", Kind: "MutatingWebhookConfiguration"},
		{Group: v1.GroupName, Version: "v1beta1", Kind: "ValidatingWebhookConfiguration"},
	}
	for _, version := range []string{"v1", "v1beta1", "v1alpha1", "v2", "__internal"} {
		kinds = append(kinds, schema.GroupVersionKind{Group: v1.GroupName, Version: version, Kind: own})
	}
	return kinds
}

// TestForeignKinds compares the answers of both servers to bodies whose kind is not the kind of the
// resource.
func TestForeignKinds(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, genericfeatures.CBORServingAndStorage, true)
	stock, celador, theirs := bothServers(t)
	for version, resources := range theirs {
		for resource := range resources {
			base, _, _ := strings.Cut(resource, "/")
			collection := "/apis/" + v1.GroupName + "/" + version + "/" + base
			path := collection + "/demo" + strings.TrimPrefix(resource, base)
			for _, host := range []string{stock, celador} {
				valid := call{"POST", collection, "application/yaml", []byte("apiVersion: " + v1.GroupName + "/" + version + validObjects[base])}
				// A request for another version may have created the object.
				if got := send(t, host, valid, root); got.Code != http.StatusCreated && got.Code != http.StatusConflict {
					t.Fatalf("%s %s: %v", host, collection, got)
				}
			}
			for _, kind := range sentKinds(kindOf(t, base)) {
				body := map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": map[string]any{"name": "demo"}}
				t.Run(version+" "+resource+" "+kind.String(), func(t *testing.T) {
					for _, c := range calls(t, collection, path, body) {
						if diff := cmp.Diff(send(t, stock, c, root), send(t, celador, c, root).withoutValues()); diff != "" {
							t.Errorf("%s %s %s %q: -Kubernetes +Celador:\n%s", c.method, c.path, c.mediaType, c.body, diff)
						}
					}
				})
			}
		}
	}
}

// bothServers starts a server with Kubernetes' storage and one with Celador's, each with its own
// etcd. It returns their URLs, and Kubernetes' resources by version.
func bothServers(t *testing.T) (stock, celador string, resources map[string]map[string]registryrest.Storage) {
	t.Helper()
	config := enabled(v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion)
	p, models := provider(), runtime.NewScheme()
	install.Versions(models)
	theirs := must(upstreamrest.RESTStorageProvider{Authorizer: p.Authorizer, DiscoveryClient: p.Discovery}.NewRESTStorage(config, newServer(t, runtime.ContentTypeJSON, "", false)))(t)
	ours := must(p.NewRESTStorage(config, newServer(t, runtime.ContentTypeJSON, "", false)))(t)
	return serve(t, theirs, kubernetesopenapi.GetOpenAPIDefinitions, runtime.NewScheme()),
		serve(t, ours, openapi.GetMergedOpenAPIDefinitions, models), theirs.VersionedResourcesStorageMap
}

// kindOf returns the kind that the resource serves.
func kindOf(t *testing.T, resource string) string {
	t.Helper()
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(validObjects[resource]), &meta); err != nil {
		t.Fatal(err)
	}
	return meta.Kind
}

// call is a request.
type call struct {
	method, path, mediaType string
	body                    []byte
}

// calls returns a request for each verb and media type in which a client can send the body.
func calls(t *testing.T, collection, path string, body map[string]any) []call {
	t.Helper()
	const dryRun = "?dryRun=All"
	text := must(json.Marshal(body))(t)
	odd := must(json.Marshal(map[string]any{"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": "none", "extra": 1}))(t)
	replace := must(json.Marshal([]map[string]any{
		{"op": "replace", "path": "/kind", "value": body["kind"]},
		{"op": "replace", "path": "/apiVersion", "value": body["apiVersion"]},
	}))(t)
	encoded := map[string][]byte{
		"application/json": text,
		"application/yaml": must(yaml.JSONToYAML(text))(t),
		"application/cbor": must(direct.Marshal(body))(t),
		"application/vnd.kubernetes.protobuf": must(runtime.Encode(protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme), &runtime.Unknown{
			TypeMeta: runtime.TypeMeta{APIVersion: body["apiVersion"].(string), Kind: body["kind"].(string)}, ContentType: runtime.ContentTypeProtobuf,
		}))(t),
	}
	all := []call{
		{"PUT", path + dryRun, "application/json", odd},
		{"PUT", path + dryRun + "&fieldValidation=Strict", "application/json", odd},
		{"PATCH", path + dryRun, "application/merge-patch+json", text},
		{"PATCH", path + dryRun, "application/json-patch+json", replace},
		{"PATCH", path + dryRun + "&fieldManager=test", "application/apply-patch+yaml", text},
	}
	for mediaType, content := range encoded {
		all = append(all, call{"PUT", path + dryRun, mediaType, content})
		if strings.HasPrefix(path, collection+"/demo/") {
			continue
		}
		all = append(all,
			call{"POST", collection + dryRun, mediaType, content},
			call{"POST", collection + dryRun + "&fieldValidation=Strict", mediaType, content},
			call{"DELETE", path + dryRun, mediaType, content},
		)
	}
	return all
}

// answer holds the status code and the warnings of a response, and its Status if it is an error.
type answer struct {
	Code     int
	Warnings []string
	Status   metav1.Status
}

// withoutValues removes the values that Celador lists for a missing field, and Kubernetes does not.
func (a answer) withoutValues() answer {
	a.Status.Message = listedValues.ReplaceAllString(a.Status.Message, "Required value")
	if a.Status.Details != nil {
		for i := range a.Status.Details.Causes {
			cause := &a.Status.Details.Causes[i]
			cause.Message = listedValues.ReplaceAllString(cause.Message, "Required value")
		}
	}
	return a
}

var listedValues = regexp.MustCompile(`Required value: supported values: "\w+"(, "\w+")*`)

var uid = regexp.MustCompile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

func send(t *testing.T, host string, c call, who user.Info) (got answer) {
	t.Helper()
	request := must(http.NewRequestWithContext(t.Context(), c.method, host+c.path, bytes.NewReader(c.body)))(t)
	request.Header.Set("Content-Type", c.mediaType)
	request.Header.Set("Accept", "application/json")
	request.Header.Set(userHeader, who.GetName())
	response := must(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	content := must(io.ReadAll(response.Body))(t)
	got.Code, got.Warnings = response.StatusCode, response.Header["Warning"]
	if got.Code >= 400 {
		if err := json.Unmarshal(uid.ReplaceAll(content, []byte("UID")), &got.Status); err != nil {
			t.Fatalf("%v: %s", err, content)
		}
	}
	return got
}

func must[V any](value V, err error) func(*testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

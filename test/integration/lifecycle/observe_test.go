// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"sigs.k8s.io/yaml"
)

const (
	group            = "admissionregistration.k8s.io"
	mutatingPolicies = "mutatingadmissionpolicies"
)

// manifests maps each resource of the group to an object without apiVersion and name.
var manifests = map[string]string{
	"validatingwebhookconfigurations": "kind: ValidatingWebhookConfiguration",
	"mutatingwebhookconfigurations":   "kind: MutatingWebhookConfiguration",
	"validatingadmissionpolicies": `
kind: ValidatingAdmissionPolicy
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: object.spec.replicas <= 5}]
`,
	"validatingadmissionpolicybindings": `
kind: ValidatingAdmissionPolicyBinding
spec: {policyName: none, validationActions: [Deny]}
`,
	mutatingPolicies: `
kind: MutatingAdmissionPolicy
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{paused: true}}"}}]
  reinvocationPolicy: Never
`,
	"mutatingadmissionpolicybindings": `
kind: MutatingAdmissionPolicyBinding
spec: {policyName: none}
`,
}

// behavior is the observable behavior of a server's API group.
type behavior struct {
	// Group is the discovery document of the group; Versions are those of its versions, by path.
	Group    metav1.APIGroup
	Versions map[string]metav1.APIResourceList
	// OpenAPI lists the paths of the group's OpenAPI documents.
	OpenAPI []string
	// Warnings, Stored and Sizes are about one object, by version and resource: the warnings of the
	// requests that create and list it, its normalized value in etcd, and the number of bytes
	// there.
	Warnings map[string][]string
	Stored   map[string]string
	Sizes    map[string]int
	// Gates lists the metrics of all feature gates.
	Gates []string
}

// behavior creates an object of each resource in each version and returns what it observes.
func (s *server) behavior(t *testing.T) behavior {
	t.Helper()
	seen := behavior{Versions: map[string]metav1.APIResourceList{}, Warnings: map[string][]string{}, Stored: map[string]string{}, Sizes: map[string]int{}}
	var documents struct{ Paths map[string]any }
	if err := errors.Join(s.get(t, "/apis/"+group, &seen.Group), s.get(t, "/openapi/v3", &documents)); err != nil {
		t.Fatal(err)
	}
	for path := range documents.Paths {
		if strings.HasPrefix(path, "apis/"+group) {
			seen.OpenAPI = append(seen.OpenAPI, path)
		}
	}
	slices.Sort(seen.OpenAPI)
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		path := "/apis/" + group + "/" + version
		var list metav1.APIResourceList
		if err := s.get(t, path, &list); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		seen.Versions[path] = list
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") {
				continue
			}
			at := version + "/" + resource.Name
			created := s.create(t, path+"/"+resource.Name, version+"-"+resource.Name, manifests[resource.Name])
			listed := s.client.Get().AbsPath(path, resource.Name).Do(t.Context())
			if err := errors.Join(created.Error(), listed.Error()); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			for _, warning := range append(created.Warnings(), listed.Warnings()...) {
				if strings.Contains(warning.Text, "the binding has no effect until it does") {
					continue // Kubernetes does not warn about bindings without a policy
				}
				seen.Warnings[at] = append(seen.Warnings[at], warning.Text)
			}
			stored, _ := s.stored(t, "/"+resource.Name+"/"+version+"-"+resource.Name)
			seen.Stored[at], seen.Sizes[at] = normalized(t, stored), len(stored)
		}
	}
	metrics, err := s.client.Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, "kubernetes_feature_enabled{") {
			seen.Gates = append(seen.Gates, line)
		}
	}
	return seen
}

// get decodes the JSON document at path into content.
func (s *server) get(t *testing.T, path string, content any) error {
	t.Helper()
	text, err := s.client.Get().AbsPath(path).SetHeader("Accept", runtime.ContentTypeJSON).DoRaw(t.Context())
	if err != nil {
		return err
	}
	return json.Unmarshal(text, content)
}

// create creates the object of a manifest in the collection at path.
func (s *server) create(t *testing.T, path, name, manifest string) rest.Result {
	t.Helper()
	content := map[string]any{"apiVersion": strings.Join(strings.Split(path, "/")[2:4], "/"), "metadata": map[string]any{"name": name}}
	if err := yaml.Unmarshal([]byte(manifest), &content); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return s.client.Post().AbsPath(path).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(text).Do(t.Context())
}

// aggregated returns the group's part of the aggregated discovery document.
func (s *server) aggregated(ctx context.Context) (*apidiscoveryv2.APIGroupDiscovery, error) {
	var all apidiscoveryv2.APIGroupDiscoveryList
	text, err := s.client.Get().AbsPath("/apis").SetHeader("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, item := range all.Items {
		if item.Name == group {
			return &item, nil
		}
	}
	return nil, fmt.Errorf("%s is not among the %d groups", group, len(all.Items))
}

// unique matches quoted UIDs and times.
var unique = regexp.MustCompile(`"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"|"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)

// normalized returns a value from etcd with placeholders for UIDs and times. It decodes protobuf
// with Kubernetes' types, which lack the status of mutating policies, and returns it as JSON.
func normalized(t *testing.T, stored []byte) string {
	t.Helper()
	if bytes.HasPrefix(stored, []byte("k8s\x00")) {
		obj, gvk, err := legacyscheme.Codecs.UniversalDeserializer().Decode(stored, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		obj.GetObjectKind().SetGroupVersionKind(*gvk)
		if stored, err = json.Marshal(obj); err != nil {
			t.Fatal(err)
		}
	}
	return unique.ReplaceAllString(string(stored), `"..."`)
}

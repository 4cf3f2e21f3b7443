// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/offlinebackend"
)

// Requests that no client can send are errors of Admit.
func TestUnusableRequests(t *testing.T) {
	c := clustertest.New(t, offlinebackend.KubeAPIServer, clustertest.Replicas)
	for name, test := range map[string]struct {
		request cluster.Request
		want    string
	}{
		"no object":           {cluster.Request{Operation: admission.Create}, "neither a resource nor an object"},
		"empty object":        {cluster.Request{Operation: admission.Create, Object: &unstructured.Unstructured{}}, "no matches for kind"},
		"unknown group":       {cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: nowhere.io/v1\nkind: A")}, `API group "nowhere.io" is not served`},
		"unknown kind":        {cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: Pot")}, `no matches for kind "Pot" in version "v1"`},
		"unknown resource":    {cluster.Request{Operation: admission.Create, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pots"}}, `no resource "pots"`},
		"unknown version":     {cluster.Request{Operation: admission.Create, Resource: schema.GroupVersionResource{Group: "apps", Version: "v2", Resource: "deployments"}}, "API version apps/v2 is not served"},
		"unknown subresource": {cluster.Request{Operation: admission.Update, Subresource: "sale", Object: clustertest.Deployment(t, "1")}, `no subresource "sale"`},
		"unknown operation":   {cluster.Request{Operation: "WATCH", Object: clustertest.Deployment(t, "1")}, `operation "WATCH"`},
		"no name":             {cluster.Request{Operation: admission.Delete, OldObject: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap")}, "no name"},
		"unknown field":       {cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {}")}, `unknown field "date"`},
		"wrong type":          {cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}")}, "cannot unmarshal number"},
		"unknown field of the old object": {
			cluster.Request{Operation: admission.Delete, OldObject: clustertest.Object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {}")}, `oldObject: strict decoding error: unknown field "date"`,
		},
		"unknown option":   {cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, "1"), Options: map[string]any{"fieldManger": "a"}}, `options: strict decoding error: unknown field "fieldManger"`},
		"objects of kinds": {cluster.Request{Operation: admission.Update, Object: clustertest.Deployment(t, "1"), OldObject: clustertest.Object(t, pod)}, "oldObject: kind Pod is not that of resource deployments.apps"},
		"no connection":    {cluster.Request{Operation: admission.Connect, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Name: "a"}, "pods does not accept CONNECT"},
		"namespace of the old object": {
			cluster.Request{Operation: admission.Delete, Namespace: "a", OldObject: clustertest.Object(t, pod)}, `oldObject: metadata.namespace "shop" is not the namespace of the request, "a"`,
		},
		"name of the old object": {
			cluster.Request{Operation: admission.Update, Object: clustertest.Deployment(t, "1"), OldObject: clustertest.Deployment(t, "1"), Name: "b"}, `oldObject: metadata.name "web" is not the name of the request, "b"`,
		},
		"name of a new object": {cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, "1"), Name: "b"}, `name "b" is not that of the object, "web"`},
		"namespace of a cluster-scoped object": {
			cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}"), Namespace: "b"}, "namespaces have no namespace",
		},
		"path": {
			cluster.Request{Operation: admission.Delete, Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Name: ".."}, `name ".." may not be`,
		},
		"options of a connection": {
			cluster.Request{Operation: admission.Connect, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Subresource: "exec", Name: "a", DryRun: true}, "neither options nor dryRun",
		},
		"kind of a connection": {
			cluster.Request{Operation: admission.Connect, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Subresource: "exec", Name: "a", Object: clustertest.Object(t, "apiVersion: v1\nkind: PodAttachOptions")},
			"kind PodAttachOptions is not that of the options of pods/exec, which is PodExecOptions",
		},
		"body of another kind": {
			cluster.Request{Operation: admission.Create, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Object: clustertest.Deployment(t, "1")}, "Deployment in version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			response, err := c.Admit(t.Context(), &test.request)
			if err == nil {
				t.Fatalf("no error, but a response with status %v", response.Status)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %q, want one with %q", err, test.want)
			}
		})
	}
}

// TestReviews sends access and token reviews, to which no policy applies, whatever it matches.
func TestReviews(t *testing.T) {
	const never = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: never}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]}
  validations: [{expression: "false"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: never}
spec: {policyName: never, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  reinvocationPolicy: Never
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]}
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: '[JSONPatch{op: "add", path: "/spec", value: {}}]'}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: label}
spec: {policyName: label}
`
	c := clustertest.New(t, offlinebackend.KubeAPIServer, never)
	for _, text := range []string{
		"{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: jane, resourceAttributes: {verb: get, resource: pods}}}",
		"{apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, metadata: {namespace: default}, spec: {user: jane, resourceAttributes: {namespace: default, verb: get, resource: pods}}}",
		"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: get, resource: pods}}}",
		"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectRulesReview, spec: {namespace: default}}",
		"{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {token: a}}",
		"{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}",
	} {
		response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, text)})
		if !response.Allowed {
			t.Errorf("%s: rejected with %v", text, response.Status)
		}
		for _, p := range response.Policies {
			if p.Effect != cluster.NotMatched || !strings.Contains(p.Reason, "which the server itself relies on") {
				t.Errorf("%s: policy %s is %s: %s", text, p.Policy, p.Effect, p.Reason)
			}
		}
	}
	response := clustertest.Admit(t, c, &cluster.Request{
		Operation: admission.Create, Resource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Subresource: "eviction",
		Object: clustertest.Object(t, "{apiVersion: policy/v1, kind: Eviction, metadata: {name: web, namespace: shop}}"), OldObject: clustertest.Object(t, pod),
	})
	if response.Allowed {
		t.Error("policies do not see an eviction")
	}
}

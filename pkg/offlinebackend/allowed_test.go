// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/offlinebackend"
)

// Requests that no policy denies succeed, also as dry runs.
func TestAllowedRequests(t *testing.T) {
	c := clustertest.New(t, offlinebackend.KubeAPIServer, clustertest.Widgets)
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	for name, request := range map[string]cluster.Request{
		"create":             {Operation: admission.Create, Object: clustertest.Deployment(t, "1")},
		"update":             {Operation: admission.Update, Object: clustertest.Deployment(t, "1"), OldObject: clustertest.Deployment(t, "2")},
		"delete":             {Operation: admission.Delete, OldObject: clustertest.Deployment(t, "2")},
		"delete gracefully":  {Operation: admission.Delete, OldObject: clustertest.Object(t, pod+"  nodeName: n1")},
		"custom create":      {Operation: admission.Create, Object: clustertest.Widget(t, "v2", "spec: {}")},
		"custom update":      {Operation: admission.Update, Object: clustertest.Widget(t, "v2", "spec: {}"), OldObject: clustertest.Widget(t, "v1", "spec: {size: 1}")},
		"custom delete":      {Operation: admission.Delete, OldObject: clustertest.Widget(t, "v1", "spec: {size: 1}")},
		"policy":             {Operation: admission.Create, Object: clustertest.Object(t, clustertest.Replicas)},
		"definition":         {Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.example.com}\nspec: {group: example.com, scope: Cluster, names: {plural: as, kind: A}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}")},
		"ports of a service": {Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, ports: [{name: a, port: 80}, {name: b, port: 81}]}")},
		"namespace":          {Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}")},
		"role of a user":     {Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]")},
		"eviction": {
			Operation: admission.Create, Subresource: "eviction", OldObject: clustertest.Object(t, pod),
			Object: clustertest.Object(t, "apiVersion: policy/v1\nkind: Eviction\nmetadata: {name: web, namespace: shop}"),
		},
		"scale": {
			Operation: admission.Update, Subresource: "scale", OldObject: clustertest.Deployment(t, "3"),
			Object: clustertest.Object(t, "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: web, namespace: default}\nspec: {replicas: 8}"),
		},
		"claim of a device": {Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: a}\nspec: {devices: {requests: [{name: a, exactly: {deviceClassName: c, adminAccess: false}}]}}")},
		"access review":     {Operation: admission.Create, Object: clustertest.Object(t, "apiVersion: authorization.k8s.io/v1\nkind: SubjectAccessReview\nspec: {user: a, nonResourceAttributes: {path: /a, verb: get}}")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dryRun := range []bool{false, true} {
				request.DryRun = dryRun
				if response := clustertest.Admit(t, c, &request); !response.Allowed {
					t.Errorf("dry run %v: %v", dryRun, response.Status)
				}
			}
		})
	}
	t.Run("connection", func(t *testing.T) {
		response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Connect, Resource: pods, Subresource: "exec", Name: "web"})
		if !response.Allowed || response.Object != nil {
			t.Errorf("the response is %+v", response)
		}
	})
}

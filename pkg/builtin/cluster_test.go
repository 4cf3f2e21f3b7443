// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"celador.io/offline/cluster"

	"celador.io/celador/pkg/builtin"
)

// parse returns the objects of a YAML stream.
func parse(t testing.TB, documents string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, document := range strings.Split(documents, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

func newCluster(t testing.TB, documents string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(t.Context(), builtin.Types, parse(t, documents)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func admit(t testing.TB, c *cluster.Cluster, request *cluster.Request) *cluster.Review {
	t.Helper()
	review, err := c.Admit(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return review
}

const replicas = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: replicas.example.com
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  validations:
  - expression: object.spec.replicas <= 5
    messageExpression: "'at most 5 replicas, not ' + string(object.spec.replicas)"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: everywhere
spec:
  policyName: replicas.example.com
  validationActions: [Deny]
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: REPLICAS
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx
`

func deploymentOf(t testing.TB, replicas string) *unstructured.Unstructured {
	return parse(t, strings.ReplaceAll(deployment, "REPLICAS", replicas))[0]
}

func TestValidatingPolicy(t *testing.T) {
	c := newCluster(t, replicas)
	review := admit(t, c, &cluster.Request{Operation: admission.Create, Object: deploymentOf(t, "9")})
	if review.Allowed {
		t.Fatal("9 replicas are allowed")
	}
	const want = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'everywhere' denied request: at most 5 replicas, not 9`
	if got := review.Status.Error(); got != want {
		t.Errorf("status is %q, want %q", got, want)
	}
	review = admit(t, c, &cluster.Request{Operation: admission.Update, Object: deploymentOf(t, "3"), OldObject: deploymentOf(t, "9")})
	if !review.Allowed {
		t.Errorf("3 replicas are rejected: %v", review.Status)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package clustertest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"celador.io/offline/cluster"
)

// Parse returns the objects of a YAML stream.
func Parse(t testing.TB, documents string) []*unstructured.Unstructured {
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

// Object returns the object of a YAML document.
func Object(t testing.TB, document string) *unstructured.Unstructured {
	t.Helper()
	return Parse(t, document)[0]
}

// New returns a cluster with the objects of a YAML stream.
func New(t testing.TB, backend cluster.Backend, documents string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New(t.Context(), backend, Parse(t, documents)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Admit returns the response to a request.
func Admit(t testing.TB, c *cluster.Cluster, request *cluster.Request) *cluster.Response {
	t.Helper()
	response, err := c.Admit(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// Replicas is a policy that denies Deployments with more than 5 replicas, and its binding.
const Replicas = `
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

// DeploymentYAML returns the manifest of a Deployment.
func DeploymentYAML(replicas string) string {
	return strings.ReplaceAll(deployment, "REPLICAS", replicas)
}

// Deployment returns a Deployment.
func Deployment(t testing.TB, replicas string) *unstructured.Unstructured {
	t.Helper()
	return Object(t, DeploymentYAML(replicas))
}

// Widgets is a CustomResourceDefinition with the versions v1 and v2.
const Widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: &schema
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 3, maximum: 100}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, count: {type: integer}}}
          status:
            type: object
            properties:
              phase: {type: string}
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema: *schema
`

// Widget returns a custom resource of Widgets with the given fields besides metadata.
func Widget(t testing.TB, version, rest string) *unstructured.Unstructured {
	t.Helper()
	return Object(t, "apiVersion: example.com/"+version+"\nkind: Widget\nmetadata: {name: w, namespace: default}\n"+rest)
}

// Report returns a policy that denies every request for a resource, with the value of an expression
// as the message.
func Report(group, version, resource, expression string) string {
	return `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: report}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: ["` + group + `"], apiVersions: ["` + version + `"], operations: ["*"], resources: ["` + resource + `"]}
  validations:
  - expression: "false"
    messageExpression: |-
      ` + expression + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: report, validationActions: [Deny]}
`
}

// Mutating returns a policy with a mutation of Deployments, and its binding.
func Mutating(name, reinvocation, mutation string) string {
	return `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: ` + name + `}
spec:
  reinvocationPolicy: ` + reinvocation + `
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  mutations:
  - ` + mutation + `
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: ` + name + `}
spec: {policyName: ` + name + "}\n"
}

// Apply returns a mutation with an apply configuration.
func Apply(expression string) string {
	return "{patchType: ApplyConfiguration, applyConfiguration: {expression: \"" + expression + "\"}}"
}

// JSONPatch returns a mutation with a JSON patch.
func JSONPatch(expression string) string {
	return "{patchType: JSONPatch, jsonPatch: {expression: \"" + expression + "\"}}"
}

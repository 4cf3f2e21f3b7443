// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"strings"
	"testing"
)

// scopeSuite is a suite of a policy for custom resources with a list of type map.
const scopeSuite = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
featureGates: {AdmissionPolicyExpressionScopes: true}
manifests:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: boxes.example.com}
  spec:
    group: example.com
    scope: Namespaced
    names: {plural: boxes, singular: box, kind: Box, listKind: BoxList}
    versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            parts:
              type: array
              x-kubernetes-list-type: map
              x-kubernetes-list-map-keys: [name]
              items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p}
  spec:
    matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: ["*"], resources: [boxes]}]}
    validations:
    - {scope: {path: "parts[*]"}, expression: self.size >= oldSelf.size, messageExpression: "path + ' shrinks from ' + string(oldSelf.size)"}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b}
  spec: {policyName: p, validationActions: [Deny]}
cases:
- name: case
`

func TestScopesOfCustomResources(t *testing.T) {
	for _, test := range []struct{ name, fields string }{
		{"items in another order", `
  request:
    oldObject: {apiVersion: example.com/v1, kind: Box, metadata: {name: b}, parts: [{name: a, size: 1}, {name: b, size: 2}]}
    object: {apiVersion: example.com/v1, kind: Box, metadata: {name: b}, parts: [{name: c, size: 0}, {name: b, size: 1}, {name: a, size: 2}]}
  expect: {decision: Denied, message: "parts[1] shrinks from 2", typeWarnings: []}`},
		{"a new object", `
  request: {object: {apiVersion: example.com/v1, kind: Box, metadata: {name: b}, parts: [{name: a}]}}
  expect: {decision: Allowed}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := runSuite(t, scopeSuite+strings.TrimPrefix(test.fields, "\n")+"\n").Cases[0]
			if !c.Passed() {
				t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
			}
		})
	}
}

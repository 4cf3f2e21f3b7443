// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"strings"
	"testing"
)

// TestUnservedParamKind tests that a policy whose paramKind is not served meets no expectation but
// Error.
func TestUnservedParamKind(t *testing.T) {
	const text = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p}
  spec:
    paramKind: {apiVersion: example.com/v1, kind: KIND}
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations: [{expression: object.metadata.name == 'x'}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b}
  spec: {policyName: p, validationActions: [Deny], paramRef: {name: a, parameterNotFoundAction: Deny}}
cases:
- name: a
  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}
  expect: {EXPECT}
- name: other resource
  request: {object: {apiVersion: v1, kind: Secret, metadata: {name: x}}}
  expect: {allowed: true}
`
	for expect, unusable := range map[string]bool{
		"allowed: false": true, "decision: Denied": true, "violations: 1": true, "allowed: true": true,
		"decision: Error": false, "decision: Error, allowed: false": false,
	} {
		result := runSuite(t, strings.NewReplacer("KIND", "Thing", "EXPECT", expect).Replace(text))
		c := result.Cases[0]
		if unusable != (c.Err != nil) || !unusable && !c.Passed() || unusable && !strings.Contains(c.Err.Error(), `suite.yaml:9: manifests[0].spec.paramKind: kind Thing: API group "example.com" is not served`) {
			t.Errorf("%s: decision %s, error %v", expect, c.Decision, c.Err)
		}
		if other := result.Cases[1]; !other.Passed() {
			t.Errorf("%s: the case of another resource does not pass: %v", expect, other.Err)
		}
	}
}

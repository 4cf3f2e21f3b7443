// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"strings"
	"testing"
)

// TestUnservedKind tests that a policy that reads objects of a kind that is not served meets no
// expectation but Error.
func TestUnservedKind(t *testing.T) {
	const text = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
featureGates: {AdmissionPolicyLookups: true}
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p}
  spec:
    FIELD
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations: [{expression: EXPRESSION}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b}
  spec: {policyName: p, validationActions: [Deny]PARAMREF}
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
		for field, replacer := range map[string]*strings.Replacer{
			"paramKind": strings.NewReplacer("FIELD", "paramKind: {apiVersion: example.com/v1, kind: Thing}", "EXPRESSION", "object.metadata.name == 'x'",
				"PARAMREF", ", paramRef: {name: a, parameterNotFoundAction: Deny}", "EXPECT", expect),
			"lookups[0]": strings.NewReplacer("FIELD", "lookups: [{name: things, apiVersion: example.com/v1, kind: Thing}]", "EXPRESSION", "lookups.things.list().size() == 0",
				"PARAMREF", "", "EXPECT", expect),
		} {
			result := runSuite(t, replacer.Replace(text))
			c := result.Cases[0]
			if unusable != (c.Err != nil) || !unusable && !c.Passed() || unusable && !strings.Contains(c.Err.Error(), `suite.yaml:10: manifests[0].spec.`+field+`: kind Thing: API group "example.com" is not served`) {
				t.Errorf("%s, %s: decision %s, error %v", field, expect, c.Decision, c.Err)
			}
			if other := result.Cases[1]; !other.Passed() {
				t.Errorf("%s, %s: the case of another resource does not pass: %v", field, expect, other.Err)
			}
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"testing"
)

// refusing is a suite of a mutation with a reason of its own.
const refusing = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
featureGates: {MutatingAdmissionPolicyInlineExpressions: true}
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingAdmissionPolicy
  metadata: {name: m}
  spec:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    reinvocationPolicy: Never
    mutations: [{expression: "%s", reason: Forbidden, message: refused}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingAdmissionPolicyBinding
  metadata: {name: m}
  spec: {policyName: m}
cases:
- name: case
  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
  expect: {decision: %s, reason: Forbidden, message: refused}
`

// A mutation that refuses a request denies it, and one that cannot be evaluated is an error, also if
// the mutation has a reason.
func TestRefusals(t *testing.T) {
	for expression, decision := range map[string]string{"false": "Denied", "object.data.missing == 'x'": "Error"} {
		t.Run(expression, func(t *testing.T) {
			result := runSuite(t, fmt.Sprintf(refusing, expression, decision)).Cases[0]
			if result.Err != nil || len(result.Mismatches) > 0 {
				t.Errorf("got the error %v and the mismatches %v", result.Err, result.Mismatches)
			}
		})
	}
}

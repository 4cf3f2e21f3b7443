// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/coverage"
	"celador.io/offline/suite"
)

// ruled is a suite with expressions of all kinds of objects.
const ruled = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
metadata: {name: ruled}
manifests:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: crates.example.com}
  spec:
    group: example.com
    scope: Namespaced
    names: {plural: crates, singular: crate, kind: Crate, listKind: CrateList}
    versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            size:
              type: integer
              x-kubernetes-validations:
              - rule: self <= 5
                messageExpression: "self > 5 ? 'too large' : ''"
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingWebhookConfiguration
  metadata: {name: hooks}
  webhooks:
  - &hook
    name: crates.example.com
    clientConfig: {url: "https://localhost/"}
    admissionReviewVersions: [v1]
    sideEffects: None
    rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [crates]}]
    matchConditions: [{name: large, expression: object.size > 2}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingWebhookConfiguration
  metadata: {name: hooks}
  webhooks:
  - *hook
cases:
- name: small
  request: {object: &crate {apiVersion: example.com/v1, kind: Crate, metadata: {name: a}, size: 2}}
  expect: {decision: NoMatch, webhooks: []}
- name: large
  request: {object: {<<: *crate, size: 5}}
  expect: {decision: NoMatch, webhooks: [crates.example.com, crates.example.com]}
- name: too large
  request: {object: {<<: *crate, size: 6}}
  expect: {decision: Rejected, messagePattern: too large}
`

func TestCoverageOfWebhooksAndCustomResources(t *testing.T) {
	profile := &coverage.Profile{}
	runner := suite.Runner{Backend: clustertest.Backend, Coverage: profile}
	for _, c := range runner.Run(t.Context(), loadSuite(t, ruled))[0].Cases {
		if !c.Passed() {
			t.Errorf("%s: error %v, mismatches %+v", c.Name, c.Err, c.Mismatches)
		}
	}
	var got []string
	for _, e := range profile.Expressions() {
		s := e.Summary()
		got = append(got, fmt.Sprintf("%s/%s:%d %s: %d/%d", e.Kind, e.Name, e.Position.Line, e.Text, s.Covered, s.Branches))
		for _, b := range e.Branches {
			if !b.Covered {
				got = append(got, b.Missing)
			}
		}
	}
	want := []string{
		"CustomResourceDefinition/crates.example.com:24 self <= 5: 3/3",
		`CustomResourceDefinition/crates.example.com:25 (self > 5) ? "too large" : "": 2/4`,
		"self was never less than 5",
		"self was never 5",
		"MutatingWebhookConfiguration/hooks:36 object.size > 2: 1/3",
		"object.size was never less than 2",
		"object.size was never 3",
		"ValidatingWebhookConfiguration/hooks:36 object.size > 2: 1/3",
		"object.size was never less than 2",
		"object.size was never 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
}

// TestExpressionsOfRejections checks that a mismatch has the rule of a CustomResourceDefinition or
// the match conditions that led to it.
func TestExpressionsOfRejections(t *testing.T) {
	result := runSuite(t, ruled+`- name: rule
  request: {object: {<<: *crate, size: 6}}
  expect: {decision: NoMatch}
- name: condition
  request: {object: *crate}
  expect: {decision: NoMatch, webhooks: [crates.example.com]}
`)
	var got []string
	for _, c := range result.Cases {
		for _, m := range c.Mismatches {
			for _, e := range m.Expressions {
				got = append(got, fmt.Sprintf("%s %s: %s is %s", c.Name, m.Field, e.Text, e.Explanation.Value))
			}
		}
	}
	want := []string{
		"rule decision: self <= 5 is false",
		"condition webhooks: object.size > 2 is false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expressions (-want +got):\n%s", diff)
	}
}

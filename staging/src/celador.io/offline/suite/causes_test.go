// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"celador.io/offline/suite"
	"github.com/google/go-cmp/cmp"
)

// causesSuite is a suite of a policy that denies everything, for two reasons.
const causesSuite = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
featureGates: {AdmissionPolicyCauses: true}
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p}
  spec:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations:
    - {expression: "object.metadata.name == 'good'", message: bad name, fieldPath: .metadata.name}
    - {expression: "object.metadata.name == 'good'", message: bad}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b}
  spec: {policyName: p, validationActions: [Deny]}
cases:
- name: case
  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}}
  expect: EXPECT
`

func TestCauses(t *testing.T) {
	const both = `metadata.name: "bad name", "bad"`
	for _, test := range []struct{ name, object, expect, want, got string }{
		{name: "as expected", object: "a", expect: "{decision: Denied, causes: [{field: metadata.name, message: bad name}, {message: bad}]}"},
		{name: "messages are not compared", object: "a", expect: "{allowed: false, causes: [{field: metadata.name}, {}]}"},
		{name: "another message", object: "a", expect: "{decision: Denied, causes: [{field: metadata.name, message: bad name}, {message: good}]}", want: `metadata.name: "bad name", "good"`, got: both},
		{name: "another field", object: "a", expect: "{decision: Denied, causes: [{field: data, message: bad name}, {message: bad}]}", want: `data: "bad name", "bad"`, got: both},
		{name: "no field", object: "a", expect: "{decision: Denied, causes: [{message: bad name}, {message: bad}]}", want: `"bad name", "bad"`, got: both},
		{name: "too few", object: "a", expect: "{decision: Denied, causes: [{field: metadata.name, message: bad name}]}", want: `metadata.name: "bad name"`, got: both},
		{name: "another order", object: "a", expect: "{decision: Denied, causes: [{message: bad}, {field: metadata.name, message: bad name}]}", want: `"bad", metadata.name: "bad name"`, got: both},
		{name: "none expected", object: "a", expect: "{decision: Denied, causes: []}", want: "no causes", got: both},
		{name: "none", object: "good", expect: "{decision: Allowed, causes: []}"},
		{name: "some expected of an admission", object: "good", expect: "{decision: Allowed, causes: [{message: bad}]}", want: `"bad"`, got: "no causes"},
		{
			name: "of the server", object: "good}, data: {a b: x", expect: "{decision: Rejected, causes: [{field: data, message: bad}]}",
			want: `data: "bad"`, got: `data[a b]: "Invalid value: \"a b\": a valid config key must consist of`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := runSuite(t, strings.NewReplacer("NAME", test.object, "EXPECT", test.expect).Replace(causesSuite)).Cases[0]
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			var got string
			for _, m := range c.Mismatches {
				got += m.Field + ": " + m.Want + " / " + m.Got
			}
			want := ""
			if test.got != "" {
				want = "causes: " + test.want + " / " + test.got
			}
			if want == "" && got != "" || !strings.HasPrefix(got, want) {
				t.Errorf("mismatches (-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// A violation has the field of its cause, which the playground shows.
func TestFieldsOfViolations(t *testing.T) {
	c := runSuite(t, strings.NewReplacer("NAME", "a", "EXPECT", "{decision: Denied}").Replace(causesSuite)).Cases[0]
	if c.Err != nil {
		t.Fatal(c.Err)
	}
	var got []string
	for _, v := range suite.Violations(c.Response.Policies) {
		got = append(got, v.Field)
	}
	if diff := cmp.Diff([]string{"metadata.name", ""}, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// Without the gate, a denial has the first cause only, as on Kubernetes.
func TestCausesWithoutGate(t *testing.T) {
	text := strings.NewReplacer("featureGates: {AdmissionPolicyCauses: true}\n", "", ", fieldPath: .metadata.name", "", "NAME", "a",
		"EXPECT", "{decision: Denied, causes: [{message: bad name}]}").Replace(causesSuite)
	if c := runSuite(t, text).Cases[0]; !c.Passed() {
		t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
	}
}

// A request that the case expects to be allowed has no causes.
func TestCausesOfAllowedRequests(t *testing.T) {
	for _, expect := range []string{"{allowed: true, causes: [{}]}", "{decision: NoMatch, causes: [{}]}"} {
		file := filepath.Join(write(t, map[string]string{"suite.yaml": strings.NewReplacer("NAME", "a", "EXPECT", expect).Replace(causesSuite)}), "suite.yaml")
		_, err := new(suite.Loader).Load(file)
		if err == nil || !strings.Contains(err.Error(), "a request that is allowed has no causes") {
			t.Errorf("%s: got %v", expect, err)
		}
	}
}

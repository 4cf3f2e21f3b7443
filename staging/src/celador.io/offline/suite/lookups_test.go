// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/coverage"
	"celador.io/offline/suite"
)

// lookupSuite is a suite of a policy whose message has the objects that it looks up.
const lookupSuite = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
featureGates: {AdmissionPolicyLookups: true}
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p}
  spec:
    lookups: [{name: maps, apiVersion: v1, kind: ConfigMap, index: "has(item.data) ? item.data.color : ''"}]
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]}
    validations: [{expression: "false", messageExpression: "lookups.maps.list().map(m, m.metadata.name + '=' + m.data.color).join(' ')"}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b}
  spec: {policyName: p, validationActions: [Deny]}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: red}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {color: green}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: other}, data: {color: black}}
cases:
- name: case
`

func TestLookups(t *testing.T) {
	for _, test := range []struct{ name, fields, want string }{
		{"create", "request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}", "a=red b=green"},
		{"another namespace", "request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}}}", "b=black"},
		{
			"manifests of the case", `
  manifests:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {color: blue}}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {color: white}}
  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: d}}}`, "a=red b=blue c=white",
		},
		{"update of a manifest", "request: {operation: UPDATE, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: new}}}", "a=red b=green"},
		{
			"an old object", `
  request:
    oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {color: old}}
    object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {color: new}}`, "a=red b=green c=old",
		},
		{
			"an old object that replaces a manifest", `
  request: {operation: DELETE, oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: old}}}`, "a=old b=green",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := runSuite(t, lookupSuite+"  "+strings.TrimSpace(test.fields)+"\n  expect: {decision: Denied, message: "+test.want+"}\n").Cases[0]
			if !c.Passed() {
				t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
			}
		})
	}
}

// Policies with other indexes of a kind see the same objects, those of the request included.
func TestLookupsWithSeveralIndexes(t *testing.T) {
	head, rest, _ := strings.Cut(lookupSuite, "- apiVersion")
	text := head
	for name, lookup := range map[string][2]string{
		"by-color": {"has(item.data) ? item.data.color : ''", "lookups.maps.indexed('old').map(m, m.metadata.name) == ['c']"},
		"by-name":  {"item.metadata.name", "lookups.maps.indexed('c').map(m, m.data.color) == ['old']"},
	} {
		text += fmt.Sprintf(`
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: %s}
  spec:
    lookups: [{name: maps, apiVersion: v1, kind: ConfigMap, index: "%s"}]
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]}
    validations: [{expression: "%s"}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: %s}
  spec: {policyName: %s, validationActions: [Deny]}
`, name, lookup[0], lookup[1], name, name)
	}
	_, objects, _ := strings.Cut(rest, "[Deny]}\n")
	c := runSuite(t, text+objects+`
  request:
    oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {color: old}}
    object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {color: new}}
  expect: {decision: Allowed}
`).Cases[0]
	if !c.Passed() {
		t.Errorf("error %v, mismatches %+v", c.Err, c.Mismatches)
	}
}

// Requests do not evaluate indexes, so coverage leaves them out.
func TestLookupCoverage(t *testing.T) {
	text := lookupSuite + "  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}\n  expect: {decision: Denied}\n"
	profile := &coverage.Profile{}
	(&suite.Runner{Backend: clustertest.Backend, Coverage: profile}).Run(t.Context(), loadSuite(t, text))
	var fields []string
	for _, e := range profile.Expressions() {
		fields = append(fields, e.Field)
	}
	if want := []string{"spec.validations[0].messageExpression"}; !slices.Equal(fields, want) {
		t.Errorf("coverage of %q, want %q", fields, want)
	}
}

// Without its feature gate, the server drops the field and rejects the policy, which reads it.
func TestDroppedField(t *testing.T) {
	text := strings.Replace(lookupSuite, "featureGates: {AdmissionPolicyLookups: true}\n", "", 1) +
		"  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}}\n  expect: {decision: Denied}\n"
	c := runSuite(t, text).Cases[0]
	const want = "suite.yaml:9: manifests[0].spec.lookups: the server drops the field, which requires the AdmissionPolicyLookups feature gate to be enabled"
	if c.Err == nil || !strings.Contains(c.Err.Error(), want) {
		t.Errorf("error %v, want %s", c.Err, want)
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"strings"
	"testing"
)

// timeSuite is a suite of a mutating and a validating policy that read request.time. The latter has
// a match condition.
const timeSuite = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
featureGates: {AdmissionPolicyRequestTime: %t}
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingAdmissionPolicy
  metadata: {name: m}
  spec:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    reinvocationPolicy: Never
    mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{data: {'time': string(request.time)}}"}}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingAdmissionPolicyBinding
  metadata: {name: m}
  spec: {policyName: m}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: v}
  spec:
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]}
    matchConditions: [{name: named, expression: "object.metadata.name != 'exempt'"}]
    validations: [{expression: "[request].all(r, r.time.getDayOfWeek() < 5)", messageExpression: "'frozen at ' + string(request.time)"}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: v}
  spec: {policyName: v, validationActions: [Deny]}
cases:
- name: case
  request:
    object: {apiVersion: v1, kind: %s, metadata: {name: %s}}
%s
`

func TestRequestTime(t *testing.T) {
	const (
		old    = "    oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n"
		exempt = "    oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: exempt}}\n"
		at     = "    time: 2026-11-28T21:30:00Z\n"
	)
	for _, test := range []struct {
		name         string
		off          bool
		kind, object string
		fields       string
		want         string
	}{
		{name: "mutation", fields: at + "  expect: {decision: Allowed, object: {data: {time: 2026-11-28T21:30:00Z}}}"},
		{name: "patch", fields: at + "  expect: {decision: Allowed, patch: [{op: add, path: /data, value: {time: 2026-11-28T21:30:00Z}}]}"},
		{name: "fraction and zone", fields: "    time: \"2026-11-28T23:30:00.5+02:00\"\n  expect: {decision: Allowed, object: {data: {time: 2026-11-28T21:30:00.5Z}}}"},
		{name: "denied", fields: old + at + "  expect: {decision: Denied, message: \"frozen at 2026-11-28T21:30:00Z\"}"},
		{name: "admitted", fields: old + "    time: 2026-11-26T21:30:00Z\n  expect: {decision: Allowed}"},
		{
			name: "without a time", fields: old + "  expect: {decision: Denied}",
			want: "cases[0].request: time is required, such as time: \"2026-11-28T21:30:00Z\": ValidatingAdmissionPolicy v reads request.time in spec.validations[0].expression",
		},
		{
			name: "a mutation without a time", fields: "  expect: {decision: Error}",
			want: "MutatingAdmissionPolicy m reads request.time in spec.mutations[0].applyConfiguration.expression",
		},
		{name: "no policy matches", kind: "Secret", fields: "  expect: {decision: NoMatch}"},
		{name: "a match condition is false", object: "exempt", fields: exempt + "  expect: {decision: NoMatch}"},
		{
			name: "gate off", off: true, fields: at + "  expect: {decision: Allowed}",
			want: "spec.mutations[0].applyConfiguration.expression: Invalid value: \"Object{data: {'time': string(request.time)}}\": request.time requires the AdmissionPolicyRequestTime feature gate to be enabled",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind, object := "ConfigMap", "c"
			if test.kind != "" {
				kind = test.kind
			}
			if test.object != "" {
				object = test.object
			}
			got := ""
			text := fmt.Sprintf(timeSuite, !test.off, kind, object, test.fields)
			if c := runSuite(t, text).Cases[0]; !c.Passed() {
				got = fmt.Sprintf("error %v, mismatches %+v", c.Err, c.Mismatches)
			}
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
		})
	}
}

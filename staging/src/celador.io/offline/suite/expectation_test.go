// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/suite"
)

// hooked has webhooks and a policy with a type error.
const hooked = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
metadata: {name: hooked}
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingWebhookConfiguration
  metadata: {name: validating}
  webhooks:
  - &hook
    name: leases.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {url: "https://127.0.0.1:1"}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE], resources: ["*"]}]
    matchConditions: [{name: not-exempt, expression: "!has(object.metadata.labels) || !('exempt' in object.metadata.labels)"}]
  - <<: *hook
    name: failing.example.com
    matchConditions: [{name: fails, expression: "object.metadata.labels.fail == 'x'"}]
    failurePolicy: Ignore
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingWebhookConfiguration
  metadata: {name: mutating}
  webhooks:
  - <<: *hook
    name: apps.example.com
    matchPolicy: Equivalent
    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
    objectSelector: {matchLabels: {mutate: me}}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: typo}
  spec:
    failurePolicy: Ignore
    matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
VARIABLES    validations: [{expression: object.spec.replicsa < 5}]
MORE
cases:
- name: a config map
  request: {object: {apiVersion: v1, kind: KIND, metadata: {name: a, labels: LABELS}}}
  expect: EXPECT
`

// mutatingTypo has the name and the first variable of the policy in hooked.
const mutatingTypo = `
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingAdmissionPolicy
  metadata: {name: typo}
  spec:
    failurePolicy: Ignore
    reinvocationPolicy: Never
    matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
    variables: [{name: replicas, expression: object.spec.replicsc}]
    mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}]"}}]`

func TestWebhooksAndTypeWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		labels, expect string
		want           []string // the mismatches
		more           string   // further manifests
	}{
		"called":             {"{}", "{decision: NoMatch, webhooks: [leases.example.com]}", nil, ""},
		"all called":         {"{mutate: me, fail: x}", "{decision: NoMatch, webhooks: [leases.example.com, failing.example.com, apps.example.com]}", nil, ""},
		"match condition":    {"{exempt: x}", "{decision: NoMatch, webhooks: []}", nil, ""},
		"called, not wanted": {"{}", "{decision: NoMatch, webhooks: []}", []string{`webhooks: want [], got ["leases.example.com"]`}, ""},
		"wanted, not called": {"{exempt: x}", "{decision: NoMatch, webhooks: [leases.example.com]}", []string{`webhooks: want ["leases.example.com"], got [] (leases.example.com: match condition not-exempt is false)`}, ""},
		"wanted, not matched": {"{}", "{decision: NoMatch, webhooks: [apps.example.com, leases.example.com]}",
			[]string{`webhooks: want ["apps.example.com", "leases.example.com"], got ["leases.example.com"] (apps.example.com: rules or selectors do not match)`}, ""},
		"type warning": {"{}", `{decision: NoMatch, typeWarnings: [{policy: typo, fieldRef: "spec.validations[0].expression", pattern: undefined field 'replicsa'}]}`, nil, ""},
		"another type warning": {"{}", `{decision: NoMatch, typeWarnings: [{policy: typo, fieldRef: "spec.validations[0].expression", pattern: nothing}]}`,
			[]string{`typeWarnings: want typo: spec.validations[0].expression: nothing, got typo: spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicsa'`}, ""},
		"no type warning": {"{}", `{decision: NoMatch, typeWarnings: []}`, []string{`typeWarnings: want [], got ["typo: spec.validations[0].expression: apps/v1, Kind=Deployment: ERROR`}, ""},
		"type warnings of one name": {"{}", `{decision: NoMatch, typeWarnings: [
      {policy: ValidatingAdmissionPolicy/typo, fieldRef: "spec.variables[0].expression", pattern: undefined field 'replicsb'},
      {policy: ValidatingAdmissionPolicy/typo, fieldRef: "spec.validations[0].expression", pattern: undefined field 'replicsa'},
      {policy: MutatingAdmissionPolicy/typo, fieldRef: "spec.variables[0].expression", pattern: undefined field 'replicsc'}]}`, nil, mutatingTypo},
		"type warnings of one name without kinds": {"{}", `{decision: NoMatch, typeWarnings: [{policy: typo, fieldRef: "spec.variables[0].expression"}]}`,
			[]string{`typeWarnings: want ["typo: spec.variables[0].expression"], got ["MutatingAdmissionPolicy/typo: spec.variables[0].expression: `}, mutatingTypo},
	} {
		t.Run(name, func(t *testing.T) {
			variables := ""
			if test.more != "" {
				variables = "    variables: [{name: replicas, expression: object.spec.replicsb}]\n"
			}
			text := strings.NewReplacer("KIND", "ConfigMap", "LABELS", test.labels, "EXPECT", test.expect, "MORE", test.more, "VARIABLES", variables).Replace(hooked)
			var got []string
			result := runSuite(t, text).Cases[0]
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			for _, m := range result.Mismatches {
				got = append(got, m.Field+": want "+m.Want+", got "+m.Got)
			}
			if len(got) != len(test.want) {
				t.Fatalf("mismatches are %q, want %q", got, test.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], test.want[i]) {
					t.Errorf("mismatch is %q, want %q", got[i], test.want[i])
				}
			}
		})
	}
}

const unknown = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
metadata: {name: unknown}
manifests:
- apiVersion: example.com/v1
  kind: Limit
  metadata: {name: limit}
  most: 3
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: size}
  spec:
    paramKind: {apiVersion: example.com/v1, kind: Limit}
    matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1beta1], operations: [CREATE, UPDATE], resources: [crates]}]}
    validations: [{expression: object.spec.size <= params.most, messageExpression: "object.metadata.namespace + ' has ' + string(object.spec.size)"}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: size}
  spec: {policyName: size, validationActions: [Deny], paramRef: {name: limit, parameterNotFoundAction: Deny}}
cases:
- name: small
  request: {object: {apiVersion: example.com/v1beta1, kind: Crate, metadata: {name: a}, spec: {size: 1}}}
  expect: {decision: Allowed}
- name: large
  request: {object: {apiVersion: example.com/v1beta1, kind: Crate, metadata: {name: a, namespace: shop}, spec: {size: 4}}}
  expect: {decision: Denied, message: shop has 4}
`

func TestUnknownKinds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(file, []byte(unknown), 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := new(suite.Loader).Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range (&suite.Runner{Backend: clustertest.Backend, AllowUnknownKinds: true}).Run(t.Context(), tests)[0].Cases {
		if !c.Passed() {
			t.Errorf("%s: error %v, mismatches %v", c.Name, c.Err, cmp.Diff(nil, c.Mismatches))
		}
	}
	for _, c := range (&suite.Runner{Backend: clustertest.Backend}).Run(t.Context(), tests)[0].Cases {
		if c.Err == nil || !strings.Contains(c.Err.Error(), "CustomResourceDefinition") {
			t.Errorf("%s: error is %v without the flag", c.Name, c.Err)
		}
	}
}

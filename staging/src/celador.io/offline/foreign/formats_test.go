// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/foreign"
	"celador.io/offline/suite"
)

// write writes files to a new directory and returns its path.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	for name, content := range files {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// TestFind finds the suites in testdata by their content.
func TestFind(t *testing.T) {
	loader := &suite.Loader{Formats: foreign.Formats()}
	files, err := loader.Find("testdata")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"testdata/gatekeeper/suite.yaml", "testdata/kaptest/.kaptest/kaptest.yaml", "testdata/kubescape/controls/replicas/tests.json", "testdata/kyverno/.kyverno-test/kyverno-test.yaml"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestCases compares the cases of the suites in testdata with what the tools expect of them.
func TestCases(t *testing.T) {
	loader := &suite.Loader{Formats: foreign.Formats()}
	for file, want := range map[string][]string{
		"testdata/kubescape/controls/replicas/tests.json": {
			"replicas/template as it is: true", "replicas/many replicas: Denied false", "replicas/many replicas pass: true", "replicas/higher limit: true",
			"replicas/latest image: Denied false", "replicas/warning only: true", "replicas/other kind [0]: true", "replicas/other kind [1]: true", "replicas/no selector: Denied false",
			"replicas/unknown field: Denied false", "replicas/label of a number: Denied false", "replicas/label of a number (2): true",
			"replicas/warning: Allowed", "replicas/no warning: Allowed", "replicas/without params: Denied false", "replicas/service account that exists: Denied false",
			"replicas/namespace that exists: true", "replicas/sandbox: Denied false", "replicas/one of two objects [0]: true", "replicas/one of two objects [1]: Denied false",
		},
		"testdata/kaptest/.kaptest/kaptest.yaml": {
			"keys/CREATE ConfigMap shop/good: admit with param keys: Allowed", "keys/CREATE ConfigMap shop/bad: deny with param keys: Denied",
			"keys/CREATE ConfigMap lab/bad: deny with param keys: Denied", "keys/CREATE ConfigMap shop/no-data: error with param keys: Error",
			"keys/CREATE ConfigMap shop/bad: skip with param keys: NoMatch", "keys/UPDATE ConfigMap shop/good: admit with param keys: Allowed",
			"keys/DELETE ConfigMap shop/good: skip with param keys: NoMatch", "keys/UPDATE ConfigMap shop/good from no-data: admit with param keys: Allowed",
			"keys/UPDATE ConfigMap shop/bad from good: deny with param keys: Denied", "keys/UPDATE ConfigMap shop/good from bad: admit with param keys: Allowed",
			"color/CREATE ConfigMap shop/good: mutate: Allowed", "color/CREATE ConfigMap shop/good: mutate (2): Allowed",
		},
		"testdata/kyverno/.kyverno-test/kyverno-test.yaml": {
			"deployments/replicas Deployment shop/small: pass: Allowed", "deployments/replicas Deployment shop/large: fail: Denied",
			"deployments/replicas Deployment elsewhere: pass: Allowed", "deployments/replicas Deployment elsewhere: skip: NoMatch",
			"deployments/replicas Deployment lab/many: fail: Denied",
			"deployments/advice Deployment shop/large: fail: Denied", "deployments/label Deployment shop/small: pass: Allowed",
			"deployments/names check Deployment: skipped",
		},
		"testdata/gatekeeper/suite.yaml": {
			"replicas/deny/few replicas: 0 violations", "replicas/deny/many replicas [0]: Denied at most 2", "replicas/deny/many replicas [1]: 1 violations ^large has",
			"replicas/deny/many replicas [2]: 2 violations", "replicas/deny/many replicas [3]: 0 violations nonsense", "replicas/deny/many replicas [4]: Denied team",
			"replicas/deny/excluded namespace: 0 violations", "replicas/deny/without a namespace: Denied", "replicas/deny/not an object of the API: 0 violations",
			"replicas/deny/no annotation [0]: Denied", "replicas/deny/no annotation [1]: 1 violations no such key", "replicas/deny/update by someone else: 1 violations operators",
			"replicas/deny/update by root: 0 violations", "replicas/deny/deletion: Denied keep", "replicas/deny/later: skipped",
			"replicas/warn/a name that does not match: 0 violations", "replicas/warn/many replicas [0]: Allowed", "replicas/warn/many replicas [1]: 2 violations",
			"replicas/production/the namespace has the label: Denied", "replicas/production/the namespace has no label: 0 violations",
			"replicas/limit of another type/the constraint is invalid: Rejected", "replicas/expanded/pod of a deployment: skipped", "replicas/rego/many replicas: skipped",
			"replicas/named/many replicas: Denied", "replicas/named/an object without metadata: 0 violations",
		},
	} {
		tests, err := loader.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, expectations(tests)); diff != "" {
			t.Errorf("cases of %s (-want +got):\n%s", file, diff)
		}
		documents, err := loader.Convert(file)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for _, document := range documents {
			yaml, err := document.YAML()
			if err != nil {
				t.Fatal(err)
			}
			text.WriteString("---\n" + string(yaml))
		}
		// The paths in a converted suite are relative to the original.
		converted := filepath.Join(filepath.Dir(file), "converted.yaml")
		if err := os.WriteFile(converted, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		tests, err = new(suite.Loader).Load(converted)
		if err := os.Remove(converted); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, expectations(tests)); diff != "" {
			t.Errorf("cases of the converted %s (-want +got):\n%s", file, diff)
		}
	}
}

// expectations returns the name of each case and what it expects.
func expectations(tests []*suite.Test) []string {
	var lines []string
	for _, test := range tests {
		for i := range test.Suite.Cases {
			c := &test.Suite.Cases[i]
			expected := string(c.Expect.Decision)
			switch {
			case c.Skip != "":
				expected = "skipped"
			case c.Expect.Violations != nil:
				expected = fmt.Sprintf("%d violations", *c.Expect.Violations)
			case c.Expect.Allowed != nil:
				expected = strings.TrimSpace(fmt.Sprint(expected, " ", *c.Expect.Allowed))
			}
			if pattern := c.Expect.MessagePattern; pattern != "" && pattern != ".*" {
				expected += " " + pattern
			}
			lines = append(lines, fmt.Sprintf("%s/%s: %s", test.Name, c.Name, expected))
		}
	}
	return lines
}

func TestErrors(t *testing.T) {
	const (
		policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n"
		object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	)
	for _, test := range []struct {
		name, file, content string
		want                []string // the starts of the lines of the error, after the directory
	}{
		{"kubescape", "c/x/tests.json", `[
{"name": "a", "template": "none.yaml", "expected": "pass"},
{"name": "b", "template": "configmap.yaml", "expected": "deny"},
{"name": "c", "template": "configmap.yaml", "expected": "pass", "field_change_list": ["data=a", "data.x.y=1"]},
{"name": "d", "expected": "pass"}
]`, []string{
			"c/x/tests.json:2: [0].template: open ", `c/x/tests.json:3: [1].expected: unknown value "deny", want pass, fail or warn`,
			`c/x/tests.json:4: [2].field_change_list[1]: the change "data.x.y=1" is not possible: `, "c/x/tests.json:4: [2].binding_template: open ",
			"c/x/tests.json:5: [3].template: required",
		}},
		{"kubescape field", "c/x/tests.json", `[{"name": "a", "template": "configmap.yaml", "expected": "pass", "changes": []}]`, []string{"c/x/tests.json:1: [0].changes: unknown field"}},
		{"kaptest", "kaptest.yaml", `version: v1alpha1
policies: [policy.yaml]
resources: [configmap.yaml]
vapTestSuites:
- policy: p
  tests:
  - object: {kind: ConfigMap, name: d}
    expect: admit
  - object: {kind: ConfigMap, name: c}
    expect: mutate
  - expect: deny
  - object: {kind: ConfigMap, name: c}
    param: {name: x}
    expect: deny
- policy: q
`, []string{
			"kaptest.yaml:7: vapTestSuites[0].tests[0].object: 0 objects", `kaptest.yaml:10: vapTestSuites[0].tests[1].expect: unknown value "mutate"`,
			"kaptest.yaml:13: vapTestSuites[0].tests[3].param: the policy has no paramKind", "kaptest.yaml:15: vapTestSuites[1].policy: no ValidatingAdmissionPolicy",
		}},
		{"old kaptest", "kaptest.yaml", "version: v1alpha1\nvapTestSuites:\n- policy: p\n  tests: [{userInfo: {user: x}}]\n", []string{
			"kaptest.yaml:4: vapTestSuites[0].tests[0].userInfo.user: unknown field", "manifests of kaptest before 0.2",
		}},
		{"kyverno", "kyverno-test.yaml", `apiVersion: cli.kyverno.io/v1alpha1
kind: Test
policies: [policy.yaml]
resources: [configmap.yaml]
exceptions: [a.yaml]
results:
- {policy: p, isValidatingAdmissionPolicy: true, kind: ConfigMap, resources: [d], result: pass}
- {policy: p, isValidatingAdmissionPolicy: true, kind: ConfigMap, resources: [c], result: warn}
- {policy: q, isMutatingAdmissionPolicy: true, kind: ConfigMap, resources: [c], result: pass}
`, []string{
			"kyverno-test.yaml:5: exceptions: native policies have no exceptions", "kyverno-test.yaml:7: results[0].resources: no object", `kyverno-test.yaml:8: results[1].result: "warn" is not supported`,
			"kyverno-test.yaml:9: results[2].policy: no MutatingAdmissionPolicy",
		}},
		{"kyverno without native policies", "kyverno-test.yaml", "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nresults: [{policy: p, rule: r, kind: Pod, resources: [a], result: pass}]\n", []string{
			"kyverno-test.yaml:3: results: no result has isValidatingAdmissionPolicy",
		}},
		{"gatekeeper", "suite.yaml", `apiVersion: test.gatekeeper.sh/v1alpha1
kind: Suite
tests:
- template: none.yaml
  constraint: constraint.yaml
- template: template.yaml
  constraint: constraint.yaml
- template: template.yaml
  constraint: configmap.yaml
- template: policy.yaml
  constraint: constraint.yaml
- template: template.yaml
  constraint: constraint.yaml
  invalid: true
  cases: [{object: configmap.yaml}]
- template: template.yaml
  constraint: constraint.yaml
  cases:
  - object: configmap.yaml
  - object: configmap.yaml
    assertions: [{violations: 1.5}, {message: (}]
  - object: configmap.yaml
    assertions: [{message: (}]
  - object: review.yaml
    assertions: [{}]
  - assertions: [{violations: no}]
- template: strict.yaml
  constraint: strange.yaml
  cases: [{object: configmap.yaml, assertions: [{}]}]
- template: template.yaml
  constraint: strange.yaml
  cases: [{object: configmap.yaml, assertions: [{}]}]
- template: template.yaml
  constraint: new.yaml
  cases: [{object: configmap.yaml, assertions: [{}]}]
`, []string{
			"suite.yaml:4: tests[0].template: open ", "suite.yaml:6: tests[1].cases: required", "configmap.yaml:2: kind: want a constraint of the template, Limit of ",
			"policy.yaml:2: kind: want a ConstraintTemplate", "suite.yaml:15: tests[4].cases: a test with invalid: true has no cases",
			"suite.yaml:19: tests[5].cases[0].assertions: required", "suite.yaml:21: tests[5].cases[1].assertions[0].violations: 1.5 is not supported, want yes, no or a number",
			"suite.yaml:23: tests[5].cases[2].assertions[0].message: not a regular expression", "review.yaml:3: request: required: a DELETE has an oldObject",
			"suite.yaml:26: tests[5].cases[4].object: required", "strict.yaml:10: spec.targets[0].code[0].source.validation: unknown field",
			`strange.yaml:4: spec.enforcementAction: unknown action "refuse", want one of deny, dryrun, warn`,
			"new.yaml:1: apiVersion: Gatekeeper does not serve constraints.gatekeeper.sh/v1: want a version of v1beta1 or v1alpha1",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := write(t, map[string]string{
				test.file: test.content, "policy.yaml": policy, "configmap.yaml": object, "c/x/policy.yaml": policy, "test-resources/configmap.yaml": object,
				"template.yaml": gatekeeperTemplate, "constraint.yaml": gatekeeperConstraint, "strict.yaml": strings.Replace(gatekeeperTemplate, "validations:", "validation:", 1),
				"strange.yaml": "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: Limit\nmetadata: {name: strange}\nspec: {enforcementAction: refuse}\n",
				"new.yaml":     "apiVersion: constraints.gatekeeper.sh/v1\nkind: Limit\nmetadata: {name: new}\n",
				"review.yaml":  "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {operation: DELETE, object: {apiVersion: v1, kind: Pod}}\n",
			})
			loader := &suite.Loader{Formats: foreign.Formats()}
			_, err := loader.Load(filepath.Join(directory, test.file))
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(strings.ReplaceAll(err.Error(), directory+"/", ""), "\n")
			if !slices.EqualFunc(lines, test.want, strings.HasPrefix) {
				t.Errorf("errors:\n%s\nwant:\n%s", strings.Join(lines, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestSomeUnusable loads suites of which some tests are wrong.
func TestSomeUnusable(t *testing.T) {
	const (
		object  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
		policy  = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n"
		binding = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: b}\nspec: {policyName: a}\n"
	)
	for _, test := range []struct{ file, content, want, problem string }{
		{"suite.yaml", `apiVersion: test.gatekeeper.sh/v1alpha1
kind: Suite
tests:
- {name: wrong, template: none.yaml, constraint: constraint.yaml, cases: [{object: configmap.yaml, assertions: [{}]}]}
- {name: right, template: template.yaml, constraint: constraint.yaml, cases: [{object: configmap.yaml, assertions: [{}]}]}
`, "right: configmap.yaml", "tests[0].template"},
		{"c/x/tests.json", `[{"name": "right", "template": "configmap.yaml", "expected": "pass"}, {"name": "wrong", "template": "none.yaml", "expected": "pass"},
{"name": "changed", "template": "configmap.yaml", "expected": "fail", "field_change_list": ["metadata.name=b"]}]`, "x: right, changed", "[1].template"},
		{"c/x/tests.json", `[{"name": "wrong", "template": "none.yaml", "expected": "pass"}]`, "", "[0].template"},
	} {
		t.Run(test.file, func(t *testing.T) {
			directory := write(t, map[string]string{
				test.file: test.content, "configmap.yaml": object, "template.yaml": gatekeeperTemplate, "constraint.yaml": gatekeeperConstraint,
				"c/x/policy.yaml": policy, "test-resources/configmap.yaml": object, "test-resources/policy-binding.yaml": binding,
			})
			tests, err := (&suite.Loader{Formats: foreign.Formats()}).Load(filepath.Join(directory, test.file))
			if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("error %v, want one at %s", err, test.problem)
			}
			var got []string
			for _, loaded := range tests {
				var cases []string
				for _, c := range loaded.Suite.Cases {
					cases = append(cases, c.Name)
				}
				got = append(got, loaded.Name+": "+strings.Join(cases, ", "))
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("loaded %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzConvert reads suites and the file that they name, which may be of any kind. Errors name a
// file.
func FuzzConvert(f *testing.F) {
	const (
		policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec: {paramKind: {apiVersion: v1, kind: ConfigMap}}\n"
		list   = "apiVersion: v1\nkind: List\nitems: [{kind: a}, null]\n"
		review = "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {operation: UPDATE, object: {apiVersion: v1, kind: Pod}, options: {}, dryRun: true}\n"
	)
	names := []string{"tests.json", "kaptest.yaml", "kyverno-test.yaml", "suite.yaml"}
	for _, seed := range [][3]string{
		{names[0], `[{"name": "a", "template": "object.yaml", "expected": "pass", "field_change_list": ["metadata.b=1"]}]`, policy},
		{names[0], `[{"name": "a", "template": "object.yaml", "expected": "warn", "binding_template": "object.yaml", "param_template": "object.yaml", "omit_param_ref": true}]`, "kind: a\nmetadata: []\n"},
		{names[1], "version: v1alpha1\npolicies: [object.yaml]\nresources: [object.yaml]\nvapTestSuites: [{policy: p, tests: [{object: {kind: ValidatingAdmissionPolicy, name: p}, expect: deny}]}]", policy},
		{names[2], "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\npolicies: [object.yaml]\nresources: [object.yaml]\nclusterResources: [object.yaml]\n" +
			"results: [{policy: p, isValidatingAdmissionPolicy: true, result: fail}]\nvalues: {globalValues: {request.operation: DELETE}}", policy},
		{names[2], "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nresources: [object.yaml]\nvariables: object.yaml\nuserinfo: object.yaml\nresults: [{policy: p, isMutatingAdmissionPolicy: true}]", list},
		{names[3], gatekeeperSuite, gatekeeperTemplate + "---\n"},
		{names[3], gatekeeperSuite, review},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, name, content, object string) {
		if !slices.Contains(names, name) {
			return
		}
		directory := write(t, map[string]string{name: content, "object.yaml": object, "policy.yaml": object, "constraint.yaml": gatekeeperConstraint, "test-resources/object.yaml": object})
		if _, err := (&suite.Loader{Formats: foreign.Formats()}).Load(filepath.Join(directory, name)); err != nil && !strings.Contains(err.Error(), directory) {
			t.Errorf("error without a file: %v", err)
		}
	})
}

const (
	gatekeeperSuite = `apiVersion: test.gatekeeper.sh/v1alpha1
kind: Suite
tests:
- template: object.yaml
  constraint: constraint.yaml
  cases:
  - object: object.yaml
    inventory: [object.yaml]
    assertions: [{violations: 1, message: a}]
`
	gatekeeperTemplate = `apiVersion: templates.gatekeeper.sh/v1beta1
kind: ConstraintTemplate
metadata: {name: limit}
spec:
  crd: {spec: {names: {kind: Limit}, validation: {openAPIV3Schema: {properties: {max: {}, list: {items: {}}}}}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: K8sNativeValidation
      source: {validations: [{expression: "true"}], matchCondition: [{name: a, expression: "true"}], variables: [{name: a, expression: "1"}]}
`
	gatekeeperConstraint = `apiVersion: constraints.gatekeeper.sh/v1beta1
kind: Limit
metadata: {name: limit}
spec:
  match: {kinds: [{kinds: [Pod]}], name: "*a*", namespaces: ["*"], labelSelector: {}}
`
)

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/get"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/policyspec"
	"celador.io/celador/test/integration/testserver"
)

// writeMutating creates a mutating policy and deletes it at the end of the test.
func writeMutating(t *testing.T, spec v1.MutatingAdmissionPolicySpec) string {
	t.Helper()
	client := policies.AdmissionregistrationV1().MutatingAdmissionPolicies()
	sent := &v1.MutatingAdmissionPolicy{Spec: spec}
	sent.Name = testserver.UniqueName("policy")
	if sent.Spec.ReinvocationPolicy == "" {
		sent.Spec.ReinvocationPolicy = v1.NeverReinvocationPolicy
	}
	return testserver.Create(t, client, sent).Name
}

// The status of a mutating policy lists type errors of the expressions and of the patches.
func TestMutatingStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spec     string
		warnings map[string]string // parts of the texts, by field
	}{
		"fits": {spec: `
variables: [{name: few, expression: object.spec.replicas < 3}]
mutations:
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{replicas: variables.few ? 3 : object.spec.replicas}}"}
- patchType: JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]"}
`},
		"wrong everywhere": {spec: `
matchConditions: [{name: c, expression: object.a == 1}]
variables: [{name: v, expression: object.b}]
mutations:
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{replicas: object.spec.c}}"}
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{d: 1}}"}
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{replicas: 'many'}}"}
- patchType: JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/replicas', value: object.spec.e}]"}
`, warnings: map[string]string{
			"spec.matchConditions[0].expression":              "undefined field 'a'",
			"spec.variables[0].expression":                    "undefined field 'b'",
			"spec.mutations[0].applyConfiguration.expression": "undefined field 'c'",
			"spec.mutations[1].applyConfiguration.expression": "undefined field 'd'",
			"spec.mutations[2].applyConfiguration.expression": "replicas",
			"spec.mutations[3].jsonPatch.expression":          "undefined field 'e'",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := fits
			if len(tc.warnings) > 0 {
				want = doesNotFit
			}
			policy := writeMutating(t, testserver.Parse[v1.MutatingAdmissionPolicySpec](t, matching("apps", "v1", "deployments")+tc.spec))
			status := expectMutating(t, policy, want)
			if err := hasStatus(v1.PolicyConditionAvailable, metav1.ConditionTrue, v1.PolicyReasonConfigured)(status); err != nil {
				t.Error(err)
			}
			if len(status.TypeChecking.ExpressionWarnings) != len(tc.warnings) {
				t.Errorf("got warnings %v, want about %v", status.TypeChecking.ExpressionWarnings, tc.warnings)
			}
			for _, warning := range status.TypeChecking.ExpressionWarnings {
				if text, ok := tc.warnings[warning.FieldRef]; !ok || !strings.Contains(warning.Warning, text) || !strings.HasPrefix(warning.Warning, "apps/v1, Kind=Deployment: ") {
					t.Errorf("got warning %+v, want %q about a Deployment", warning, text)
				}
			}
		})
	}
}

// The status of a mutating policy follows changes of a custom resource, and kubectl prints it.
func TestMutatingStatusFollowsDefinitions(t *testing.T) {
	t.Parallel()
	group := testserver.UniqueName("mutated") + ".example.com"
	policy := writeMutating(t, testserver.Parse[v1.MutatingAdmissionPolicySpec](t, matching(group, "v1", "widgets")+`
mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{size: 5}}"}}]`))
	expectMutating(t, policy, isMissing)
	if got := available(t, policy); got != "False" {
		t.Errorf("kubectl says %q, want False", got)
	}

	define(t, widgets(t, group, "v1", "{size: {type: string}}"))
	first := expectObserved(t, expectMutating(t, policy, doesNotFit), group)
	edit(t, group, func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
	})
	second := expectObserved(t, expectMutating(t, policy, fits), group)
	if second.UID != first.UID || second.Generation <= first.Generation {
		t.Errorf("after a change: observed %+v after %+v", second, first)
	}
	if got := available(t, policy); got != "True" {
		t.Errorf("kubectl says %q, want True", got)
	}
	undefine(t, group)
	expectMutating(t, policy, isMissing)
}

// available returns the cell of column Available that kubectl prints.
func available(t *testing.T, policy string) string {
	t.Helper()
	flags := genericclioptions.NewConfigFlags(false)
	flags.WrapConfigFn = func(*rest.Config) *rest.Config { return rest.CopyConfig(admin.Config) }
	var out bytes.Buffer
	command := get.NewCmdGet("kubectl", cmdutil.NewFactory(flags), genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: &out})
	command.SetArgs([]string{"mutatingadmissionpolicies", policy})
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, column := range strings.Fields(lines[0]) {
		if column == "AVAILABLE" {
			return strings.Fields(lines[1])[i]
		}
	}
	t.Fatalf("there is no such column:\n%s", out.String())
	return ""
}

// The examples have no type errors.
func TestExamplesFit(t *testing.T) {
	t.Parallel()
	files := testserver.Must(filepath.Glob(filepath.Join("..", "..", "..", "examples", "mutating-*", "policy.yaml")))(t)
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		policy := testserver.Parse[v1.MutatingAdmissionPolicy](t, string(testserver.Must(os.ReadFile(file))(t)))
		if len(policyspec.InUse(&policy.Spec, nil)) > 0 {
			continue // has fields of gates that are off here
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expectMutating(t, writeMutating(t, policy.Spec), fits)
		})
	}
}

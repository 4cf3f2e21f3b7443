// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"celador.io/offline/report"
)

const auditExample = "../../examples/replica-limit"

func exampleText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(auditExample, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// suitesOf returns a copy of the example, which has a suite, with a suite of another tool.
func suitesOf(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(auditExample)); err != nil {
		t.Fatal(err)
	}
	kaptest := "version: v1alpha1\npolicies: [policy.yaml]\nresources: [deployment-denied.yaml]\nvapTestSuites: []\n"
	if err := os.WriteFile(filepath.Join(directory, "kaptest.yaml"), []byte(kaptest), 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}

func TestAudit(t *testing.T) {
	directory := t.TempDir()
	invalid := filepath.Join(directory, "invalid.yaml")
	if err := os.WriteFile(invalid, []byte("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: p\nspec:\n  matchConstraints:\n"+
		"    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]\n  validations:\n  - expression: object.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const clean = "Objects, evaluated as if they were created now: 1. Violations: 0, errors: 0.\n"
	policy, binding := filepath.Join(auditExample, "policy.yaml"), filepath.Join(auditExample, "binding.yaml")
	denied, policyText := exampleText(t, "deployment-denied.yaml"), exampleText(t, "policy.yaml")
	for _, test := range []struct {
		name   string
		args   []string
		stdin  string
		stdout string // a part of the output
		stderr string // a part of the errors
		code   int
	}{
		{
			name: "violated", args: []string{auditExample}, code: 1,
			stdout: "demo        deployment.apps/web-denied   Violated   demo-policy.example.com   failed expression: object.spec.replicas <= 5\n",
		},
		{
			name: "lookups", args: []string{"../../examples/unique-ingress-hosts"}, code: 1,
			stdout: "unique-ingress-hosts.example.com   unique-ingress-hosts.example.com   Deny      1        2          0\n",
		},
		{name: "satisfied", args: []string{"-f", policy + "," + binding, filepath.Join(auditExample, "deployment-admitted.yaml")}, stdout: clean},
		{
			name: "unbound", args: []string{"-f", policy, filepath.Join(auditExample, "deployment-denied.yaml")}, code: 1,
			stdout: "demo-policy.example.com   <none>    <none>    0        1          0\n",
		},
		{name: "namespace", args: []string{"-n", "other", "-f", policy, auditExample}, stdout: strings.Replace(clean, ": 1.", ": 0.", 1)},
		{name: "selector", args: []string{"-l", "no=one", "-f", policy, auditExample}, stdout: strings.Replace(clean, ": 1.", ": 0.", 1)},
		{
			name: "directory of policies with suites", args: []string{"-f", suitesOf(t), filepath.Join(auditExample, "deployment-denied.yaml")}, code: 1,
			stdout: "demo-policy.example.com   demo-binding-test.example.com   Deny      0        1          0\n",
		},
		{
			name: "standard input", args: []string{"-f", policy, "-"}, stdin: denied + "\n---\n" + strings.Replace(denied, "name: web-denied", "name: other", 1), code: 1,
			stdout: "demo-policy.example.com   <none>    <none>    0        2          0\n",
		},
		{name: "policies of standard input", args: []string{"-f", "-", filepath.Join(auditExample, "deployment-denied.yaml")}, stdin: "a: [\n", code: 2, stderr: "stdin:1: not valid YAML"},
		{
			name: "not auditable", args: []string{"-f", "-", auditExample}, code: 2, stderr: "celador: no policy was evaluated: the results say why\n",
			stdin:  strings.Replace(policyText, "object.spec.replicas <= 5", "request.userInfo.username != 'jane'", 1),
			stdout: "Policy demo-policy.example.com was not evaluated: spec.validations[0].expression: the expression reads request.userInfo, which an audit does not know\n",
		},
		{
			name: "nothing matches", args: []string{"-f", policy, "-"}, stdin: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", code: 2,
			stdout: "matches no object\n", stderr: "celador: no object was evaluated: no policy matches the resource of an object of the files\n",
		},
		{name: "no policy", args: []string{filepath.Join(auditExample, "namespace.yaml")}, code: 2, stderr: "celador: there is no ValidatingAdmissionPolicy to evaluate"},
		{name: "unknown policy", args: []string{"--policy", "none", auditExample}, code: 2, stderr: "celador: --policy none: there is no such ValidatingAdmissionPolicy\n"},
		{name: "invalid policy", args: []string{"-f", invalid, auditExample}, code: 2, stderr: "invalid.yaml:9: spec.validations[0].expression: "},
		{name: "unknown format", args: []string{"-o", "xml", auditExample}, code: 2, stderr: "celador: -o xml is not a format: want json, junit, openreports, sarif, table, wgpolicy\n"},
		{name: "selector that is none", args: []string{"-l", "a in", auditExample}, code: 2, stderr: "celador: --selector a in is not a label selector: "},
		{name: "missing file", args: []string{"missing.yaml"}, code: 2, stderr: "missing.yaml: no such file or directory\n"},
		{name: "no cluster", args: []string{"-f", "../../examples/replica-limit/policy.yaml"}, code: 2, stderr: "celador: no cluster to read: there is neither a kubeconfig in $KUBECONFIG or "},
		{name: "missing kubeconfig", args: []string{"--kubeconfig", "missing"}, code: 2, stderr: "celador: stat missing: no such file or directory\n"},
		{name: "apply a table", args: []string{"--apply", auditExample}, code: 2, stderr: "celador: --apply needs -o openreports or -o wgpolicy, not -o table\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := celador(t, "", append([]string{"audit"}, test.args...)...)
			command.Stdin = strings.NewReader(test.stdin)
			stdout, stderr, code := run(t, command)
			if code != test.code || !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) || test.stderr == "" && stderr != "" {
				t.Errorf("exit code %d, want %d, output:\n%s\nerrors:\n%s", code, test.code, stdout, stderr)
			}
		})
	}
}

// TestAuditProblemsInFormats audits input that is not usable with each format.
func TestAuditProblemsInFormats(t *testing.T) {
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(auditExample)); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"broken.yaml": "a: [\n", "policy.yaml.invalid": strings.Replace(exampleText(t, "policy.yaml"), "<= 5", "<=", 1)} {
		if err := os.WriteFile(filepath.Join(directory, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		args []string
		want string // in the output and the errors
		// evaluated is set if other objects are evaluated.
		evaluated bool
	}{
		{name: "broken object", args: []string{"-f", "policy.yaml", "broken.yaml", "deployment-denied.yaml"}, want: "broken.yaml:1: not valid YAML", evaluated: true},
		{name: "missing object", args: []string{"-f", "policy.yaml", "none.yaml", "deployment-denied.yaml"}, want: "none.yaml: no such file or directory", evaluated: true},
		{name: "directory", args: []string{"."}, want: "broken.yaml:1: not valid YAML", evaluated: true},
		{name: "broken policy", args: []string{"-f", "broken.yaml", "deployment-denied.yaml"}, want: "broken.yaml:1: not valid YAML"},
		{name: "missing policy", args: []string{"-f", "none.yaml", "deployment-denied.yaml"}, want: "none.yaml: no such file or directory"},
		{name: "invalid policy", args: []string{"-f", "policy.yaml.invalid", "deployment-denied.yaml"}, want: "policy.yaml.invalid:14: spec.validations[0].expression: "},
		{name: "no policy", args: []string{"deployment-denied.yaml"}, want: "there is no ValidatingAdmissionPolicy to evaluate"},
		{name: "no policy but a broken file", args: []string{"broken.yaml"}, want: "broken.yaml:1: not valid YAML"},
		{name: "unknown policy", args: []string{"--policy", "none", "."}, want: "--policy none: there is no such ValidatingAdmissionPolicy"},
	} {
		for format := range report.Audits {
			t.Run(test.name+" "+format, func(t *testing.T) {
				command := celador(t, "", append([]string{"audit", "-o", format}, test.args...)...)
				command.Dir = directory
				stdout, stderr, code := run(t, command)
				if code != exitUnusable || !strings.Contains(stdout, test.want) || !strings.Contains(stderr, test.want) {
					t.Errorf("exit code %d, want %d and %q, output:\n%s\nerrors:\n%s", code, exitUnusable, test.want, stdout, stderr)
				}
				if evaluated := strings.Contains(stdout, "failed expression: object.spec.replicas"); evaluated != test.evaluated {
					t.Errorf("other objects are evaluated: %v, output:\n%s", evaluated, stdout)
				}
			})
		}
	}
}

// reportCRD is a CustomResourceDefinition of reports without a schema.
func reportCRD(plural, kind, scope string) string {
	return `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "` + plural + `.openreports.io"}, "spec": {
	"group": "openreports.io", "scope": "` + scope + `", "names": {"plural": "` + plural + `", "kind": "` + kind + `"}, "versions": [{"name": "v1alpha1", "served": true, "storage": true,
	"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`
}

func TestAuditOfServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	startServe(t, dir, "try: ")
	kubeconfig := filepath.Join(dir, "kubeconfig")
	crds := filepath.Join(t.TempDir(), "crds.yaml")
	if err := os.WriteFile(crds, []byte(reportCRD("reports", "Report", "Namespaced")+"\n---\n"+reportCRD("clusterreports", "ClusterReport", "Cluster")), 0o600); err != nil {
		t.Fatal(err)
	}
	example := func(file string) string { return filepath.Join(auditExample, file) }
	for _, args := range [][]string{
		{"create", "-f", example("namespace.yaml")},
		{"create", "-f", example("deployment-denied.yaml")},
		{"create", "-f", crds},
		{"wait", "--for=condition=Established", "crd", "--all"},
	} {
		if stdout, stderr, code := run(t, celador(t, dir, append([]string{"kubectl"}, args...)...)); code != 0 {
			t.Fatalf("kubectl %q: %s%s", args, stdout, stderr)
		}
	}
	audit := func(want string, wantCode int, args ...string) {
		t.Helper()
		stdout, stderr, code := run(t, celador(t, "", append([]string{"audit", "--kubeconfig", kubeconfig}, args...)...))
		if code != wantCode || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("celador audit %q: exit code %d, want %d, output:\n%s\n%s\nwant:\n%s", args, code, wantCode, stdout, stderr, want)
		}
	}
	const violated = "demo        deployment.apps/web-denied   Violated   demo-policy.example.com   failed expression: object.spec.replicas <= 5\n"
	files := example("policy.yaml") + "," + example("binding.yaml")
	audit(violated, 1, "-f", files)
	for _, file := range []string{"policy.yaml", "binding.yaml"} {
		if stdout, stderr, code := run(t, celador(t, dir, "kubectl", "create", "-f", example(file))); code != 0 {
			t.Fatalf("%s%s", stdout, stderr)
		}
	}
	audit(violated, 1)
	audit("Objects, evaluated as if they were created now: 0.", 0, "-n", "default")
	audit("demo-policy.example.com   demo-binding-test.example.com   Deny      0        1          0\n", 1, "--policy", "demo-policy.example.com", "-n", "demo")
	audit("clusterreport.openreports.io/celador-audit serverside-applied\nreport.openreports.io/celador-audit serverside-applied in namespace demo\n", 1, "-o", "openreports", "--apply")
	if stdout, stderr, code := run(t, celador(t, dir, "kubectl", "get", "reports.openreports.io", "-n", "demo", "celador-audit", "-o", "jsonpath={.summary.fail} {.results[0].resources[0].name}")); stdout != "1 web-denied" || code != 0 {
		t.Errorf("report %q, %s", stdout, stderr)
	}
	audit("report.openreports.io/celador-audit deleted in namespace demo\n", 0, "-o", "openreports", "--apply", "-l", "no=one")
}

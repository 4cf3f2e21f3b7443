// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/suite"
)

// The suites of the examples pass with policies of the polyfill, and policies that are converted
// there and back are those of before.
func TestPolyfillPolicies(t *testing.T) {
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	loader := new(suite.Loader)
	files, err := loader.Find(directory)
	if err != nil {
		t.Fatal(err)
	}
	results := func() (lines []string) {
		for _, file := range files {
			lines = append(lines, verdicts(runFile(t, loader, file), true)...)
		}
		return lines
	}
	want := results()
	policies, err := filepath.Glob(directory + "/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	converted := 0
	for _, file := range policies {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		after := convertedTo(t, toPolyfill, file)
		if after == "" {
			continue // no policy
		}
		if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(after, "admissionregistration.k8s.io/v1\nkind: Validating") || strings.Contains(after, "admissionregistration.k8s.io/v1\nkind: Mutating") && !strings.Contains(after, "WebhookConfiguration") {
			t.Errorf("%s still has native policies:\n%s", file, after)
		}
		if diff := cmp.Diff(string(before), convertedTo(t, toNative, file)); diff != "" {
			t.Errorf("%s there and back (-before +after):\n%s", file, diff)
		}
		converted++
	}
	if converted < 10 {
		t.Errorf("only %d files of %d have policies", converted, len(policies))
	}
	if diff := cmp.Diff(want, results()); diff != "" {
		t.Errorf("verdicts (-native +polyfill):\n%s", diff)
	}
}

// convertedTo returns the text of a converted file, or "" if it has no policy.
func convertedTo(t *testing.T, to, file string) string {
	t.Helper()
	var out strings.Builder
	err := convertPolicies(strings.NewReader(""), &out, to, []string{file})
	if exit, ok := err.(exitError); ok && exit.code == exitUnusable && !strings.Contains(err.Error(), "there is no policy") {
		t.Fatal(err)
	}
	return out.String()
}

func TestConvertCommand(t *testing.T) {
	directory := t.TempDir()
	policy := "# limits\napiVersion: admissionregistration.k8s.io/v1beta1 # for 1.28\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\nspec:\n  policyType: Singleton\n  validations:\n  - expression: \"true\"\n    failurePolicy: Ignore\n"
	binding := "---\napiVersion: policy.celador.io/v1\nkind: MutatingAdmissionPolicyBinding\nmetadata: {name: b}\n"
	lookups := "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {name: l}\nspec: {lookups: [{name: a, apiVersion: v1, kind: Pod}]}\n"
	timed := "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: t}\nspec: {validations: [{expression: request.time > timestamp(0)}]}\n"
	webhook := "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: w}\n"
	for name, text := range map[string]string{"policy.yaml": policy, "binding.yaml": binding, "webhook.yaml": webhook, "broken.yaml": "a: ["} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(directory, name) }
	for name, test := range map[string]struct {
		args           []string
		stdin          string
		stdout, stderr string
		code           int
	}{
		"to the polyfill": {
			args:   []string{"--to", "polyfill", file("webhook.yaml"), file("policy.yaml"), file("binding.yaml")},
			stdout: webhook + "---\n" + strings.Replace(policy, "admissionregistration.k8s.io/v1beta1", "policy.celador.io/v1", 1) + binding,
		},
		"to the API server": {
			args: []string{"--to", "native", file("policy.yaml"), file("binding.yaml")}, code: exitFailed,
			stdout: policy + strings.Replace(binding, "policy.celador.io", "admissionregistration.k8s.io", 1),
			stderr: file("policy.yaml") + ":6: spec.policyType: Kubernetes has no such field, and Celador's kube-apiserver requires the ValidatingAdmissionPolicySingleton feature gate to be enabled\n" +
				file("policy.yaml") + ":9: spec.validations[0].failurePolicy: Kubernetes has no such field, and Celador's kube-apiserver requires the ValidatingAdmissionPolicyValidationFailurePolicy feature gate to be enabled\n",
		},
		"lookups": {
			args: []string{"--to", "native", "-"}, stdin: lookups, stdout: lookups, code: exitFailed,
			stderr: "stdin:4: spec.lookups: Kubernetes has no such field, and Celador's kube-apiserver requires the AdmissionPolicyLookups feature gate to be enabled\n",
		},
		"request.time": {
			args: []string{"--to", "native", "-"}, stdin: timed, stdout: timed, code: exitFailed,
			stderr: "stdin:4: spec.validations[0].expression: Kubernetes cannot compile the expression: request.time requires the AdmissionPolicyRequestTime feature gate to be enabled\n",
		},
		"standard input": {
			args: []string{"--to", "native", "-"}, stdin: binding,
			stdout: strings.Replace(binding, "policy.celador.io", "admissionregistration.k8s.io", 1),
		},
		"no policy":        {args: []string{"--to", "native", file("webhook.yaml")}, code: exitUnusable, stderr: "celador: there is no policy or binding to convert in " + file("webhook.yaml") + "\n"},
		"no files":         {args: []string{"--to", "native"}, code: exitUnusable, stderr: "celador: name the files to convert\n"},
		"no group":         {args: []string{file("policy.yaml")}, code: exitUnusable, stderr: "celador: --to \"\": want native or polyfill\n"},
		"another group":    {args: []string{"--to", "v1", file("policy.yaml")}, code: exitUnusable, stderr: "celador: --to \"v1\": want native or polyfill\n"},
		"a file is broken": {args: []string{"--to", "native", file("policy.yaml"), file("broken.yaml")}, code: exitUnusable, stderr: file("broken.yaml") + ":1: not valid YAML: did not find expected node content\n"},
	} {
		command := celador(t, "", append([]string{"convert"}, test.args...)...)
		command.Stdin = strings.NewReader(test.stdin)
		stdout, stderr, code := run(t, command)
		if stdout != test.stdout || stderr != test.stderr || code != test.code {
			t.Errorf("%s: exit code %d, want %d, output (-want +got):\n%s%s", name, code, test.code, cmp.Diff(test.stdout, stdout), cmp.Diff(test.stderr, stderr))
		}
	}
}

// An audit reads policies of the polyfill.
func TestAuditOfPolyfillPolicies(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(convertedTo(t, toPolyfill, "../../examples/replica-limit/policy.yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	audited := func(policy string) string {
		stdout, stderr, code := run(t, celador(t, "", "audit", "-f", policy, "../../examples/replica-limit/deployment-denied.yaml"))
		if code != exitFailed {
			t.Errorf("%s: exit code %d, %s", policy, code, stderr)
		}
		return stdout
	}
	if diff := cmp.Diff(audited("../../examples/replica-limit/policy.yaml"), audited(policy)); diff != "" {
		t.Errorf("audit (-native +polyfill):\n%s", diff)
	}
}

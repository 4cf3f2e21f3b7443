// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInit(t *testing.T) {
	directory := t.TempDir()
	text, err := os.ReadFile("../../examples/replica-limit/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "policy.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args           []string
		stdout, stderr string // the starts
		code           int
	}{
		{args: []string{"--init", "policy.yaml"}, stdout: "wrote suite.yaml. Run it with: celador test suite.yaml\n"},
		{args: []string{"suite.yaml"}, stdout: "SUITE "},
		{args: []string{"--init", "policy.yaml"}, stderr: "celador: suite.yaml exists: name another file after --init policy.yaml, or - for standard output\n", code: 2},
		{args: []string{"--init", "policy.yaml", "-"}, stdout: "apiVersion: test.celador.io/v1alpha1\n"},
		{args: []string{"--init", "policy.yaml", "a", "b"}, stderr: "celador: --init takes one argument", code: 2},
		{args: []string{"--init", "missing.yaml"}, stderr: "celador: open missing.yaml: no such file", code: 2},
		{args: []string{"--init", "suite.yaml", "-"}, stderr: "celador: suite.yaml: no policy found: want a ", code: 2},
	} {
		command := celador(t, "", append([]string{"test"}, step.args...)...)
		command.Dir = directory
		stdout, stderr, code := run(t, command)
		if !strings.HasPrefix(stdout, step.stdout) || (stdout == "") != (step.stdout == "") || !strings.HasPrefix(stderr, step.stderr) || (stderr == "") != (step.stderr == "") || code != step.code {
			t.Errorf("%q: exit code %d, output %s, errors %s", step.args, code, stdout, stderr)
		}
	}
}

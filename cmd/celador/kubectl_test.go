// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const kubeconfigTemplate = `apiVersion: v1
kind: Config
current-context: NAME
contexts:
- name: NAME
  context: {cluster: NAME, user: NAME}
clusters:
- name: NAME
  cluster: {server: "https://127.0.0.1:1"}
users:
- name: NAME
`

func writeKubeconfig(t *testing.T, path, name string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(kubeconfigTemplate, "NAME", name)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKubectlFindsItsKubeconfig(t *testing.T) {
	dir := t.TempDir()
	writeKubeconfig(t, filepath.Join(dir, "kubeconfig"), "served")
	other := filepath.Join(dir, "other")
	writeKubeconfig(t, other, "other")
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".celador"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeKubeconfig(t, filepath.Join(home, ".celador", "kubeconfig"), "home")

	for _, test := range []struct {
		name string
		dir  string
		env  []string
		args []string
		want string
	}{
		{name: "data directory", dir: dir, want: "served"},
		{name: "home", env: []string{"HOME=" + home}, want: "home"},
		{name: "flag", dir: dir, args: []string{"--kubeconfig", other}, want: "other"},
		{name: "environment", dir: dir, env: []string{"KUBECONFIG=" + other}, want: "other"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := celador(t, test.dir, append([]string{"kubectl", "config", "current-context"}, test.args...)...)
			command.Env = append(command.Env, test.env...)
			if stdout, stderr, code := run(t, command); stdout != test.want+"\n" || code != 0 {
				t.Errorf("current context %q, want %q; %q, exit code %d", stdout, test.want, stderr, code)
			}
		})
	}
}

func TestKubectlPluginFindsTheKubeconfig(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	plugin := "#!/bin/sh\necho \"$KUBECONFIG $*\"\nexit 7\n"
	if err := os.WriteFile(filepath.Join(bin, "kubectl-hello"), []byte(plugin), 0o700); err != nil {
		t.Fatal(err)
	}
	command := celador(t, dir, "kubectl", "hello", "--flag", "word")
	command.Env = append(command.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	want := filepath.Join(dir, "kubeconfig") + " --flag word\n"
	if stdout, stderr, code := run(t, command); stdout != want || code != 7 {
		t.Errorf("plugin printed %q, want %q; %q, exit code %d", stdout, want, stderr, code)
	}
}

func TestKubectlFailures(t *testing.T) {
	empty := t.TempDir()
	unreachable := filepath.Join(t.TempDir(), "kubeconfig")
	writeKubeconfig(t, unreachable, "unreachable")
	const hint = "celador: no server has run with its data in "
	for _, test := range []struct {
		args []string
		want []string
		hint bool
	}{
		{[]string{"get", "--nonsense"}, []string{"error: unknown flag: --nonsense\n"}, true},
		{[]string{"get", "namespaces"}, []string{
			"error: stat " + filepath.Join(empty, "kubeconfig") + ": no such file or directory\n",
			hint + empty + ": start one with celador serve",
		}, true},
		{[]string{"get", "namespaces", "--kubeconfig", unreachable}, []string{"error: "}, false},
	} {
		_, stderr, code := run(t, celador(t, empty, append([]string{"kubectl"}, test.args...)...))
		for _, want := range test.want {
			if !strings.Contains(stderr, want) || code != 1 {
				t.Errorf("%q: %q, exit code %d, want %q", test.args, stderr, code, want)
			}
		}
		if strings.Contains(stderr, hint) != test.hint {
			t.Errorf("%q: %q, want the hint: %v", test.args, stderr, test.hint)
		}
	}
}

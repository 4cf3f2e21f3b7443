// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	logsapi "k8s.io/component-base/logs/api/v1"

	"celador.io/polyfill/pkg/app"
)

// nowhere is a kubeconfig of a cluster that does not answer.
const nowhere = `{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
	"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}]}`

// The command starts with nothing but its own packages: other tests run it in a process that has
// everything of kube-apiserver, too.
func TestErrors(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("POD_NAMESPACE", "")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no namespace":            {nil, "--namespace is required"},
		"no kubeconfig":           {[]string{"--namespace=n", "--kubeconfig=" + kubeconfig + "x"}, "kubeconfigx"},
		"no cluster":              {[]string{"--namespace=n", "--kubeconfig=" + kubeconfig}, "127.0.0.1:1"},
		"timeout":                 {[]string{"--namespace=n", "--webhook-timeout=500ms"}, "--webhook-timeout 500ms"},
		"port":                    {[]string{"--namespace=n", "--secure-port=70000"}, "--secure-port 70000"},
		"requests in flight":      {[]string{"--namespace=n", "--max-requests-inflight=-1"}, "--max-requests-inflight -1"},
		"bytes in flight":         {[]string{"--namespace=n", "--max-bytes-inflight=1000"}, "--max-bytes-inflight 1000 must be 0, or at least 8388608"},
		"lease":                   {[]string{"--namespace=n", "--leader-elect-lease-duration=5s"}, "--leader-elect-lease-duration 5s"},
		"feature gate":            {[]string{"--feature-gates=No=true"}, "unrecognized feature gate: No"},
		"argument":                {[]string{"x"}, `unknown command "x"`},
		"uninstall, no cluster":   {[]string{"uninstall", "--namespace=n", "--kubeconfig=" + kubeconfig}, "127.0.0.1:1"},
		"uninstall, no namespace": {[]string{"uninstall"}, "--namespace is required"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := logsapi.ResetForTest(utilfeature.DefaultFeatureGate); err != nil {
				t.Fatal(err)
			}
			command := app.NewCommand()
			command.SetArgs(test.args)
			command.SetOut(io.Discard)
			command.SetErr(io.Discard)
			if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

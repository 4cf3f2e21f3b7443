// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"

	"celador.io/celador/examples/aggregated-apiserver/server"
)

// Environment variables that make this test binary run the aggregated API server of the examples,
// run main, or write a fatal log entry with logs discarded, instead of the tests.
const (
	asOrders = "CELADOR_TEST_AS_ORDERS"
	asMain   = "CELADOR_TEST_AS_MAIN"
	asFatal  = "CELADOR_TEST_AS_FATAL"
)

func TestMain(m *testing.M) {
	if os.Getenv(asOrders) != "" {
		os.Exit(cli.Run(server.NewCommand()))
	}
	if os.Getenv(asMain) != "" {
		main()
		return
	}
	if os.Getenv(asFatal) != "" {
		discardLogs()
		klog.Error("noise")
		klog.ErrorS(nil, "more noise")
		klog.Fatalf("PostStartHook %q failed: %v", "x", errors.New("no luck"))
	}
	os.Exit(m.Run())
}

// celador returns a command that runs celador with args. dir is the data directory, or empty for
// the default.
func celador(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "KUBECONFIG=") && !strings.HasPrefix(variable, dataDirEnv+"=") {
			command.Env = append(command.Env, variable)
		}
	}
	// A temporary home keeps the user's preferences and caches out of the test.
	command.Env = append(command.Env, asMain+"=1", "HOME="+t.TempDir())
	if dir != "" {
		command.Env = append(command.Env, dataDirEnv+"="+dir)
	}
	return command
}

// run runs a command and returns its output and exit code.
func run(t testing.TB, command *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), command.ProcessState.ExitCode()
}

func TestFatalEndIsOneLine(t *testing.T) {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asFatal+"=1")
	stdout, stderr, code := run(t, command)
	if want := "celador: kube-apiserver: PostStartHook \"x\" failed: no luck\n"; stdout != "" || stderr != want || code != 1 {
		t.Errorf("%q, %q, exit code %d, want %q", stdout, stderr, code, want)
	}
}

func TestVersion(t *testing.T) {
	want := version.Get().GitVersion + "\n"
	for _, arg := range []string{"version", "--version"} {
		if stdout, stderr, code := run(t, celador(t, "", arg)); stdout != want || stderr != "" || code != 0 {
			t.Errorf("%s: %q, %q, exit code %d", arg, stdout, stderr, code)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--help"}, "Available Commands:"},
		{[]string{"serve", "--help"}, "--data-dir string"},
		{[]string{"serve", "--", "--help"}, "--etcd-prefix string"},
		{[]string{"kubectl", "--help"}, "kubectl controls the Kubernetes cluster manager."},
		{[]string{"kubectl", "get", "--help"}, "kubectl get "},
	} {
		stdout, stderr, code := run(t, celador(t, "", test.args...))
		if !strings.Contains(stdout, test.want) || stderr != "" || code != 0 {
			t.Errorf("%q: %q, %q, exit code %d", test.args, stdout, stderr, code)
		}
		// Process-wide flags of Kubernetes' packages are not flags of this command.
		if strings.Contains(stdout, "--version version") {
			t.Errorf("%q shows flags of the process", test.args)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"nonsense"}, `unknown command "nonsense" for "celador"`},
		{[]string{"serve", "--feature-gates=AllAlpha=true"}, "unknown flag: --feature-gates: flags of the kube-apiserver follow --, as in "},
		{[]string{"serve", "-z"}, "unknown shorthand flag: 'z' in -z: flags of the kube-apiserver follow --"},
		{[]string{"serve", "--secure-port"}, "flag needs an argument: --secure-port"},
		{[]string{"serve", "word"}, `serve does not take the argument "word": flags of the kube-apiserver follow --`},
		{[]string{"serve", "word", "--", "--event-ttl=1h"}, `serve does not take the argument "word"`},
		{[]string{"serve", "--secure-port", "65536"}, "--secure-port 65536 is not a port"},
		{[]string{"serve", "-v", "-1"}, "-v -1 is not a verbosity"},
		{[]string{"serve", "--data-dir", ""}, "no data directory given"},
		{[]string{"serve", "--", "--nonsense"}, "kube-apiserver arguments: unknown flag: --nonsense"},
		{[]string{"serve", "--", "word"}, `kube-apiserver arguments: "word" is not a flag`},
	} {
		_, stderr, code := run(t, celador(t, t.TempDir(), test.args...))
		if !isOneLine(stderr, "celador: "+test.want) || code != 1 {
			t.Errorf("%q: %q, exit code %d", test.args, stderr, code)
		}
	}
}

// isOneLine returns whether text is a single line that starts with prefix.
func isOneLine(text, prefix string) bool {
	return strings.HasPrefix(text, prefix) && strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n")
}

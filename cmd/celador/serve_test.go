// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A served process is a running celador serve or playground.
type served struct {
	process *exec.Cmd
	lines   *bufio.Scanner
	stderr  bytes.Buffer
}

// startServe starts celador serve on a free port and reads its output up to the line that starts
// with until.
func startServe(t *testing.T, dir, until string, args ...string) *served {
	t.Helper()
	return start(t, celador(t, "", append([]string{"serve", "--data-dir", dir, "--secure-port", "0"}, args...)...), until)
}

// start starts a process and reads its output up to the line that contains until.
func start(t *testing.T, command *exec.Cmd, until string) *served {
	t.Helper()
	s := launch(t, command)
	s.read(t, until)
	return s
}

// launch starts a process that ends with the test.
func launch(t *testing.T, command *exec.Cmd) *served {
	t.Helper()
	s := &served{process: command}
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.lines, s.process.Stderr = bufio.NewScanner(stdout), &s.stderr
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Killing an ended process has no effect.
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	})
	return s
}

// read returns the output up to the line that contains until.
func (s *served) read(t *testing.T, until string) (lines []string) {
	t.Helper()
	for s.lines.Scan() {
		lines = append(lines, s.lines.Text())
		if strings.Contains(s.lines.Text(), until) {
			return lines
		}
	}
	err := s.process.Wait()
	t.Fatalf("ended with %v before %q:\n%s\n%s", err, until, strings.Join(lines, "\n"), &s.stderr)
	return nil
}

func (s *served) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// wait returns the exit code, or the negated signal that ended the process.
func (s *served) wait(t *testing.T) int {
	t.Helper()
	for s.lines.Scan() {
	}
	_ = s.process.Wait()
	if status, ok := s.process.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return s.process.ProcessState.ExitCode()
}

func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	server := startServe(t, dir, "etcd is up")
	lines := server.read(t, "try: ")
	for i, want := range []string{"kube-apiserver is up at https://127.0.0.1:", "ready", "kubeconfig: " + dir, dataDirEnv + "=" + dir + " "} {
		if len(lines) != 4 || !strings.Contains(lines[i], want) {
			t.Errorf("shows %q, want %q in line %d", lines, want, i)
		}
	}

	for _, test := range []struct {
		args   []string
		stdout string
		code   int
	}{
		{args: []string{"create", "configmap", "kept"}, stdout: "configmap/kept created\n"},
		{args: []string{"auth", "can-i", "*", "*"}, stdout: "yes\n"},
		{args: []string{"get", "configmap", "none"}, code: 1},
	} {
		stdout, stderr, code := run(t, celador(t, dir, append([]string{"kubectl"}, test.args...)...))
		if stdout != test.stdout || code != test.code {
			t.Errorf("kubectl %q: %q, %q, exit code %d", test.args, stdout, stderr, code)
		}
	}

	t.Run("data directory in use", func(t *testing.T) {
		_, stderr, code := run(t, celador(t, "", "serve", "--data-dir", dir, "--secure-port", "0"))
		want := "celador: data directory " + dir + " is in use by another server (process " + strconv.Itoa(server.process.Process.Pid) + ")"
		if !isOneLine(stderr, want) || code != 1 {
			t.Errorf("%q, exit code %d, want %q", stderr, code, want)
		}
	})

	server.signal(t, syscall.SIGTERM)
	if code := server.wait(t); code != 0 || server.stderr.Len() > 0 {
		t.Errorf("after SIGTERM: exit code %d, %q", code, &server.stderr)
	}

	t.Run("restart and interrupt", func(t *testing.T) {
		server := startServe(t, dir, "try: ")
		if stdout, stderr, code := run(t, celador(t, dir, "kubectl", "get", "configmap", "kept", "-o", "name")); stdout != "configmap/kept\n" {
			t.Errorf("%q, %q, exit code %d", stdout, stderr, code)
		}
		server.signal(t, os.Interrupt)
		if code := server.wait(t); code != 0 || server.stderr.Len() > 0 {
			t.Errorf("after an interrupt: exit code %d, %q", code, &server.stderr)
		}
	})
}

func TestServeInterruptedWhileItStarts(t *testing.T) {
	server := startServe(t, t.TempDir(), "etcd is up")
	server.signal(t, syscall.SIGTERM)
	server.read(t, "stopping")
	if code := server.wait(t); code != 0 || server.stderr.Len() > 0 {
		t.Errorf("exit code %d, %q", code, &server.stderr)
	}
}

func TestServeSecondSignalEndsItAtOnce(t *testing.T) {
	server := startServe(t, t.TempDir(), "etcd is up")
	server.signal(t, syscall.SIGTERM)
	server.read(t, "stopping")
	server.signal(t, syscall.SIGTERM)
	if code := server.wait(t); code != -int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}

func TestServeShowsLogs(t *testing.T) {
	server := startServe(t, t.TempDir(), "ready", "-v", "3")
	server.signal(t, syscall.SIGTERM)
	if code := server.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	logs := strings.Split(server.stderr.String(), "\n")
	for _, want := range []string{`"etcd: starting an etcd server"`, "Starting kube-apiserver"} {
		if !slices.ContainsFunc(logs, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("the logs lack %q", want)
		}
	}
}

func TestServeErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	corrupt := t.TempDir()
	database := filepath.Join(corrupt, "etcd", "member", "snap", "db")
	if err := os.MkdirAll(filepath.Dir(database), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(database, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)

	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"unwritable", []string{"--data-dir", file}, "data directory " + file + " cannot be written to"},
		{"port", []string{"--data-dir", t.TempDir(), "--secure-port", taken}, "port " + taken + " of 127.0.0.1 is taken"},
		{"corrupt", []string{"--data-dir", corrupt, "--secure-port", "0"}, "etcd cannot use its data in " + corrupt},
		{"argument", []string{"--data-dir", t.TempDir(), "--secure-port", "0", "--", "--audit-policy-file=/none"}, "kube-apiserver: loading audit policy file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, stderr, code := run(t, celador(t, "", append([]string{"serve"}, test.args...)...))
			if !isOneLine(stderr, "celador: "+test.want) || code != 1 {
				t.Errorf("%q, exit code %d", stderr, code)
			}
		})
	}
}

// The command that serve suggests works in a terminal without the environment of serve.
func TestServeHintNamesTheDataDirectory(t *testing.T) {
	dir := t.TempDir()
	process := celador(t, dir, "serve", "--secure-port", "0")
	server := start(t, process, "try: ")
	if hint, want := server.lines.Text(), "try: "+dataDirEnv+"="+dir+" "; !strings.HasPrefix(hint, want) {
		t.Errorf("shows %q, want %q", hint, want)
	}
	t.Run("audit finds the server", func(t *testing.T) {
		stdout, stderr, code := run(t, celador(t, dir, "audit", "-f", "../../examples/replica-limit/policy.yaml"))
		if strings.Contains(stderr, "localhost:8080") || !strings.Contains(stdout, "demo-policy.example.com") {
			t.Errorf("%q, %q, exit code %d", stdout, stderr, code)
		}
	})
}

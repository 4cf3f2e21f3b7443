// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatch changes the policy of a suite while celador test watches it.
func TestWatch(t *testing.T) {
	directory := copyExample(t, "suite.yaml", "", "")
	command := celador(t, "", "test", "--watch", directory)
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() })
	results, messages := bufio.NewScanner(stdout), bufio.NewScanner(stderr)
	// expect reads up to a line that starts with prefix.
	expect := func(lines *bufio.Scanner, prefix string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), prefix) {
				return
			}
		}
		t.Fatalf("no line %q", prefix)
	}
	expect(results, "6 passed, 0 failed")
	expect(messages, "waiting for changes")
	policy := filepath.Join(directory, "policy.yaml")
	text, err := os.ReadFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ changed, stdout, stderr string }{
		{"<=", "0 passed, 0 failed, 6 unusable", "waiting"},
		{"<= 5\n  x: [", "", policy + ":"},
		{"<= 6", "5 passed, 1 failed", "waiting"},
	} {
		if err := os.WriteFile(policy, []byte(strings.Replace(string(text), "<= 5", step.changed, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if step.stdout != "" {
			expect(results, step.stdout)
		}
		expect(messages, step.stderr)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for results.Scan() || messages.Scan() { // the process ends
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d, want the one of the last run, %d", code, exitFailed)
	}
}

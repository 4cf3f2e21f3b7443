// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, script string) (p *Process, log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "sh.log")
	p, err := Start("sh", "/bin/sh", dir, log, "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p, log
}

func TestOutputGoesToLog(t *testing.T) {
	p, log := start(t, "echo out; echo err >&2")
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(content), "out\nerr\n"; got != want {
		t.Errorf("log is %q, want %q", got, want)
	}
}

func TestFailureNamesProgramAndLog(t *testing.T) {
	p, log := start(t, "exit 3")
	<-p.Done()
	for _, err := range []error{p.Err(), p.Ended()} {
		if err == nil {
			t.Fatal("no error from a program that ended with 3")
		}
		for _, want := range []string{"sh", "exit status 3", log} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
	}
}

func TestStop(t *testing.T) {
	for name, script := range map[string]string{
		"willing":      "exec 3>alive; read line < never",
		"deaf":         "trap '' TERM; exec 3>alive; read line < never",
		"with a child": "(trap '' TERM; exec 3>alive; read line < never) & wait",
	} {
		t.Run(name, func(t *testing.T) {
			p, log := start(t, "mkfifo alive never; echo ready; "+script)
			waitForLine(t, log, "ready")
			// The reader waits until every process with the pipe open has ended.
			alive, err := os.Open(filepath.Join(filepath.Dir(log), "alive"))
			if err != nil {
				t.Fatal(err)
			}
			defer alive.Close()
			if err := p.Ended(); err != nil {
				t.Fatalf("a running program counts as ended: %v", err)
			}

			p.Stop(100 * time.Millisecond)
			if p.Err() == nil {
				t.Error("a stopped program has no error")
			}
			gone := make(chan error, 1)
			go func() {
				_, err := io.ReadAll(alive)
				gone <- err
			}()
			select {
			case err := <-gone:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Error("a process is left")
			}
		})
	}
}

func waitForLine(t *testing.T, log, line string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		content, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), line+"\n") {
			return
		}
	}
	t.Fatalf("%q is not in %s", line, log)
}

func TestStartMissingProgram(t *testing.T) {
	dir := t.TempDir()
	if _, err := Start("ghost", filepath.Join(dir, "ghost"), dir, filepath.Join(dir, "log")); err == nil || !strings.Contains(err.Error(), "ghost") {
		t.Errorf("got error %v, want one that names the program", err)
	}
}

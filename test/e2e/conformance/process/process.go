// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process runs other programs and makes sure that they end.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a started program. Its methods may be called concurrently.
type Process struct {
	name, log string
	cmd       *exec.Cmd
	done      chan struct{}
	err       error
}

// Start runs binary with args in the directory dir, its output going to the file log, which is overwritten. The
// program gets a process group of its own, so that Ctrl-C reaches only the caller, who then ends things in order.
// The error says that the log cannot be written or that the program cannot be run.
func Start(name, binary, dir, log string, args ...string) (*Process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	defer output.Close()

	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	p := &Process{name: name, log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Log returns the path of the file with the program's output.
func (p *Process) Log() string { return p.log }

// Done returns a channel that is closed once the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err waits for the program to end and returns nil if its exit code was 0, otherwise an error that names the
// program, how it ended and its log.
func (p *Process) Err() error {
	<-p.done
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%s ended with %w: see %s", p.name, p.err, p.log)
}

// Ended returns, for a program that should still run, the error that it has ended; nil while it runs.
func (p *Process) Ended() error {
	select {
	case <-p.done:
		return errors.Join(fmt.Errorf("%s ended too early: see %s", p.name, p.log), p.Err())
	default:
		return nil
	}
}

// Stop ends the program and everything in its process group: it asks first and kills after grace. It returns once
// the program has ended.
func (p *Process) Stop(grace time.Duration) {
	group := -p.cmd.Process.Pid
	// Where the group is gone already there is nothing left to end.
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.done
}

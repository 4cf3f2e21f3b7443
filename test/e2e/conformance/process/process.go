// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process runs other programs and stops them with their process groups.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Process is a started program. Its methods are safe for concurrent use.
type Process struct {
	name, log string
	cmd       *exec.Cmd
	done      chan struct{}
	err       error
}

// Start starts binary with args in the directory dir. Its output overwrites the file log. The
// program runs in its own process group, so Ctrl-C reaches only the caller, which can stop programs
// in order. Start returns an error if the log cannot be written or the program cannot be run.
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

// PID returns the ID of the program's process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed once the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err waits until the program has ended. It returns nil if the exit code was 0, and otherwise an
// error with the name of the program, its exit status and its log.
func (p *Process) Err() error {
	<-p.done
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%s ended with %w: see %s", p.name, p.err, p.log)
}

// Ended returns an error if the program has ended, and nil while it runs.
func (p *Process) Ended() error {
	select {
	case <-p.done:
		return errors.Join(fmt.Errorf("%s ended too early: see %s", p.name, p.log), p.Err())
	default:
		return nil
	}
}

// Context returns a copy of parent that ends when one of the programs ends, with the error of Ended
// as its cause.
func Context(parent context.Context, programs ...*Process) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	for _, p := range programs {
		go func() {
			select {
			case <-p.done:
				cancel(p.Ended())
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// Stop sends SIGTERM to the process group of the program, and SIGKILL after grace. It returns once
// the program has ended.
func (p *Process) Stop(grace time.Duration) {
	group := -p.cmd.Process.Pid
	// The process group may have ended already.
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.done
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"time"

	"github.com/prometheus/procfs"

	"celador.io/celador/test/e2e/conformance/process"
)

// CPU returns the time for which the server has run on any CPU since it started.
func (s *Server) CPU() (time.Duration, error) {
	proc, err := procfs.NewProc(s.Process.PID())
	if err != nil {
		return 0, err
	}
	stat, err := proc.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// Memory returns the server's resident memory in bytes, and the maximum that it has had.
func (s *Server) Memory() (resident, peak float64, err error) {
	proc, err := procfs.NewProc(s.Process.PID())
	if err != nil {
		return 0, 0, err
	}
	status, err := proc.NewStatus()
	return float64(status.VmRSS), float64(status.VmHWM), err
}

// AwaitIdle waits until the server uses less than a tenth of a CPU for some seconds. It returns an
// error if the server or ctx ends first.
func (s *Server) AwaitIdle(ctx context.Context) error {
	const period = 3 * time.Second
	ctx, cancel := process.Context(ctx, s.Process)
	defer cancel()
	for {
		before, err := s.CPU()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(period):
		}
		after, err := s.CPU()
		if err != nil {
			return err
		}
		if after-before < period/10 {
			return nil
		}
	}
}

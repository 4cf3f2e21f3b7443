// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"time"

	"github.com/prometheus/procfs"
)

// CPU returns the time for which the server has run on any CPU since it started.
func (s *Server) CPU() (time.Duration, error) {
	process, err := procfs.NewProc(s.server.PID())
	if err != nil {
		return 0, err
	}
	stat, err := process.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// Memory returns the bytes of memory in which the server resides, and the most that it has had.
func (s *Server) Memory() (resident, peak float64, err error) {
	process, err := procfs.NewProc(s.server.PID())
	if err != nil {
		return 0, 0, err
	}
	status, err := process.NewStatus()
	return float64(status.VmRSS), float64(status.VmHWM), err
}

// AwaitIdle waits until the server uses less than a tenth of a CPU for some seconds, or ctx ends.
func (s *Server) AwaitIdle(ctx context.Context) error {
	const period = 3 * time.Second
	for {
		before, err := s.CPU()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.server.Done():
			return s.server.Ended()
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

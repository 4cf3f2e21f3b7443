// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, which is the same for all of Linux' user programs.
const tick = 10 * time.Millisecond

// CPU returns the time for which the server has run on any CPU since it started.
func (s *Server) CPU() (time.Duration, error) {
	stat, err := s.procfs("stat")
	if err != nil {
		return 0, err
	}
	return cpuTime(stat)
}

// cpuTime returns the time in user and kernel mode from the content of /proc/<pid>/stat, whose
// second field may contain spaces and parentheses.
func cpuTime(stat string) (time.Duration, error) {
	const user, system = 11, 12 // counted from the third field
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= system {
		return 0, fmt.Errorf("CPU time: unexpected content %q", stat)
	}
	var ticks time.Duration
	for _, field := range []string{fields[user], fields[system]} {
		number, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU time: %w", err)
		}
		ticks += time.Duration(number)
	}
	return ticks * tick, nil
}

// Memory returns the bytes of memory in which the server resides, and the most that it has had.
func (s *Server) Memory() (resident, peak float64, err error) {
	status, err := s.procfs("status")
	if err != nil {
		return 0, 0, err
	}
	if resident, err = kilobytes(status, "VmRSS"); err != nil {
		return 0, 0, err
	}
	peak, err = kilobytes(status, "VmHWM")
	return resident, peak, err
}

// kilobytes returns the bytes of an entry in the content of /proc/<pid>/status, such as "VmRSS: 12
// kB".
func kilobytes(status, name string) (float64, error) {
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		if key != name {
			continue
		}
		number, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if err != nil {
			return 0, fmt.Errorf("memory: %w", err)
		}
		return number * 1024, nil
	}
	return 0, fmt.Errorf("memory: no %s", name)
}

func (s *Server) procfs(file string) (string, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.server.PID(), file))
	return string(content), err
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

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"path/filepath"
	"testing"
	"time"

	"celador.io/celador/test/e2e/conformance/cluster"
	"celador.io/celador/test/e2e/conformance/process"
)

// A process that computes for a while uses time and memory, and one that has ended is an error.
func TestUsage(t *testing.T) {
	started, err := process.Start("sh", "sh", "/", filepath.Join(t.TempDir(), "log"), "-c", "while :; do :; done")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { started.Stop(time.Minute) })
	s := &Server{Server: &cluster.Server{Process: started}}
	for deadline := time.Now().Add(time.Minute); ; {
		used, err := s.CPU()
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("CPU time is %v, error %v", used, err)
		}
		if used > 0 {
			break
		}
	}
	if resident, peak, err := s.Memory(); err != nil || resident <= 0 || peak < resident {
		t.Errorf("memory is %v, at most %v, error %v", resident, peak, err)
	}
	started.Stop(time.Minute)
	if _, err := s.CPU(); err == nil {
		t.Error("a process that has ended has a CPU time")
	}
	if _, _, err := s.Memory(); err == nil {
		t.Error("a process that has ended has memory")
	}
}

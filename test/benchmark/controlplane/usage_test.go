// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"
	"time"
)

func TestCPUTime(t *testing.T) {
	const stat = "42 (kube) apiserver)) S 1 42 42 0 -1 4194560 100 0 3 0 250 50 7 9 20 0 12 0 1000 1 2\n"
	if got, err := cpuTime(stat); err != nil || got != 3*time.Second {
		t.Errorf("got %v and error %v", got, err)
	}
	for _, broken := range []string{"", "42 (x) S 1 42", "42 (x) S 1 42 42 0 -1 4194560 100 0 3 0 many 50"} {
		if got, err := cpuTime(broken); err == nil {
			t.Errorf("got %v from %q", got, broken)
		}
	}
}

func TestKilobytes(t *testing.T) {
	const status = "Name:\tkube-apiserver\nVmHWM:\t  300 kB\nVmRSS:\t  200 kB\nVmBad:\t much\n"
	if got, err := kilobytes(status, "VmRSS"); err != nil || got != 200*1024 {
		t.Errorf("got %v and error %v", got, err)
	}
	for _, name := range []string{"VmSwap", "VmBad"} {
		if got, err := kilobytes(status, name); err == nil {
			t.Errorf("got %v for %s", got, name)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	line := &progress{w: &out, interval: time.Hour}
	line.show("%d of %d cases", 1, 20)
	line.show("%d of %d cases", 2, 20) // too early
	line.clear()
	if got, want := out.String(), clearLine+"1 of 20 cases"+clearLine; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestNoProgressWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	line := progressOn(&out)
	line.show("%d of %d cases", 1, 20)
	line.clear()
	if out.Len() > 0 {
		t.Errorf("output %q", out.String())
	}
}

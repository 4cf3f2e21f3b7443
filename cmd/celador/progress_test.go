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
	line.count(1, 20, "cases")
	line.count(2, 20, "cases") // too early
	line.clear()
	if got, want := out.String(), clearLine+"[=                   ] 5%, 1 of 20 cases"+clearLine; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

func TestProgressCount(t *testing.T) {
	for _, test := range []struct {
		done, total int
		want        string
	}{
		{7, 0, "7 objects"},
		{1, 3, "[======              ] 33%, 1 of 3 objects"},
		{4, 3, "[====================] 100%, 4 of 3 objects"},
	} {
		var out bytes.Buffer
		line := &progress{w: &out}
		if line.count(test.done, test.total, "objects"); out.String() != clearLine+test.want {
			t.Errorf("%d of %d: output %q, want %q", test.done, test.total, out.String(), test.want)
		}
	}
}

func TestNoProgressWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	line := progressOn(&out)
	line.count(1, 20, "cases")
	line.clear()
	if out.Len() > 0 {
		t.Errorf("output %q", out.String())
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

// The CPU time of an update does not contain what the server takes when it is idle.
func TestUpdateCost(t *testing.T) {
	const each = 2 * time.Millisecond
	for _, idle := range []time.Duration{0, 300 * time.Millisecond, 400 * time.Millisecond, aftermath} {
		spent := each*time.Duration(updated/updateInterval) + idle*time.Duration((updated+aftermath)/aftermath)
		if got := time.Duration(updateCost(idle, spent)); got != each {
			t.Errorf("%v idle: an update takes %v, want %v", idle, got, each)
		}
	}
}

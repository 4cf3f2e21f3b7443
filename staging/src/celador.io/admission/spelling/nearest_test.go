// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package spelling_test

import (
	"slices"
	"strings"
	"testing"

	"celador.io/admission/spelling"
)

func TestNearest(t *testing.T) {
	names := []string{"replicas", "spec", "status", "x", strings.Repeat("y", 1000)}
	for name, want := range map[string]string{
		"replcias": "replicas", "Replica": "replicas", "sepc": "spec", "stat": "status", "y": "", "": "", "other": "",
		strings.Repeat("y", 999): "",
	} {
		if got := spelling.Nearest(name, slices.Values(names)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

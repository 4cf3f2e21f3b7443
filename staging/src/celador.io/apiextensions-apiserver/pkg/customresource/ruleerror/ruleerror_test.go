// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleerror_test

import (
	"slices"
	"strings"
	"testing"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

func TestShorten(t *testing.T) {
	long := strings.Repeat("é", 300) + "!" + strings.Repeat("x", 300)
	single := "compilation failed: ERROR: <input>:1:5: bad\n | self\n | ....^"
	for _, tc := range []struct{ detail, want string }{
		{"short", "short"},
		{single, single},
		{
			"ERROR: <input>:1:301: bad\n | " + long + "\n | " + strings.Repeat(".", 300) + "^",
			"ERROR: <input>:1:301: bad\n | ..." + strings.Repeat("é", 60) + "!" + strings.Repeat("x", 99) + "...\n | " + strings.Repeat(".", 63) + "^",
		},
		{
			"ERROR: <input>:1:3: bad\n | " + long + "\n | ..^",
			"ERROR: <input>:1:3: bad\n | " + strings.Repeat("é", 160) + "...\n | ..^",
		},
		{
			"ERROR: a\nERROR: b\nERROR: c\nERROR: d\nERROR: e",
			"ERROR: a\nERROR: b\nERROR: c\n... and 2 more errors",
		},
		{strings.Repeat("x", 1000), strings.Repeat("x", 500) + "..."},
	} {
		if got := ruleerror.Shorten(tc.detail); got != tc.want {
			t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"replicas", "spec", "status", "x", strings.Repeat("y", 1000)}
	for name, want := range map[string]string{
		"replcias": "replicas", "Replica": "replicas", "sepc": "spec", "stat": "status", "y": "", "": "", "other": "",
		strings.Repeat("y", 999): "",
	} {
		if got := ruleerror.Nearest(name, slices.Values(names)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

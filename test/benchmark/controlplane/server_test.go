// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"celador.io/celador/test/benchmark/controlplane"
)

func TestStartErrors(t *testing.T) {
	ends, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	for binary, want := range map[string]string{
		ends:             "ended too early: see " + log,
		"no/such/binary": "no such file or directory",
	} {
		server, err := controlplane.Start(t.Context(), binary, log)
		if err == nil {
			server.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", binary, err, want)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"celador.io/celador/test/e2e/conformance/specs"
)

// Only the module with the tests knows which tests exist. This test checks the format of the file.
func TestExceptions(t *testing.T) {
	if _, err := specs.ReadExceptions(strings.NewReader(exceptions)); err != nil {
		t.Fatal(err)
	}
}

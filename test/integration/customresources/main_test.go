// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customresources tests how a running server serves custom resources while their
// definitions change. All tests share one server with conversion rules; each defines custom
// resources in API groups of its own.
package customresources

import (
	"fmt"
	"os"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin are clients that may do everything.
	admin testserver.Clients
	// dataDir is where the server keeps its data.
	dataDir string
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if dataDir, err = os.MkdirTemp("", "customresources-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dataDir)
	return testserver.MainIn(dataDir, m, func(clients testserver.Clients) { admin = clients },
		"--feature-gates=CustomResourceConversionRules=true")
}

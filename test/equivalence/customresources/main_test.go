// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customresources compares Kubernetes' server of custom resources with Celador's. Both
// run in the test process on one etcd, get the same CustomResourceDefinitions and requests, and
// must return the same responses, call admission with the same attributes, and store the same
// bytes.
//
// testdata holds definitions in the shape of well-known projects. Most requests are generated.
// differences_test.go lists the wanted differences.
package customresources

import (
	"os"
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

func TestMain(m *testing.M) {
	if os.Getenv("CELADOR_TEST_LOGS") != "" {
		os.Exit(m.Run())
	}
	// Kubernetes' handler panics at some requests, and servers write that to standard error.
	discard, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	os.Stderr = discard
	harness.Main(m)
}

var must = harness.Must

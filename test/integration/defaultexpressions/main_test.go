// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package defaultexpressions tests x-kubernetes-default on a running server. All tests share the
// server; each defines custom resources in an API group of its own.
package defaultexpressions

import (
	"os"
	"testing"

	"celador.io/celador/test/integration/testserver"
)

// admin are clients that may do everything.
var admin testserver.Clients

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(clients testserver.Clients) { admin = clients }, "--feature-gates=CustomResourceDefaultExpressions=true"))
}

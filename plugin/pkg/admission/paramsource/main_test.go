// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/runtime"
)

// Kubernetes slows down what reports many errors, by when the last one was. That time
// would be shared between bubbles, of which each has a clock of its own.
func TestMain(m *testing.M) {
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

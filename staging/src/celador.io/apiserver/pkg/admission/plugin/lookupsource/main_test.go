// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookupsource_test

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/runtime"
)

// Kubernetes' error handler delays callers that report errors in quick succession, by the time of
// the last error. synctest bubbles, each with its own clock, must not share that time.
func TestMain(m *testing.M) {
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

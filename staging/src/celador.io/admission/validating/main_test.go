// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"os"
	"testing"

	"celador.io/admission/cel/celtest"
)

// The tests fail if the evaluator panics, although cel-go then evaluates the expression.
func TestMain(m *testing.M) { os.Exit(celtest.RunWithoutPanics(m.Run)) }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhook compares Kubernetes' plugins for admission webhooks with Celador's: which
// webhooks are called with which reviews, the changed object, errors, warnings, audit
// annotations and metrics of the same requests. Webhooks answer inside of the test process.
//
// Examples are written by hand and state the expected outcome. Generated webhooks and fuzzing
// only compare the plugins. differences_test.go lists the wanted differences.
package webhook

import (
	"testing"

	"celador.io/celador/test/equivalence/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

type request = harness.Request

// Short names for the tables of examples.
var (
	must     = harness.Must
	says     = harness.Sorted
	labelled = harness.Labelled
	having   = harness.Having
	widget   = harness.NewWidget
	touch    = harness.Touch
)

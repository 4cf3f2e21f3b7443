// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutating compares Kubernetes' MutatingAdmissionPolicy plugin with Celador's: the changed
// object, errors, reinvocation and metrics of the same requests.
//
// Examples are written by hand and state the expected outcome. Generated policies and fuzzing
// only compare the plugins. differences_test.go lists the wanted differences.
package mutating

import (
	"testing"

	"celador.io/admission/policytest"

	"celador.io/celador/test/equivalence/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

type request = harness.Request

// Short names for the tables of examples.
var (
	must                       = harness.Must
	everything, matching, rule = policytest.Everything, policytest.Match, policytest.Rule
	received, internal         = harness.Received, harness.Internal
	touch                      = harness.Touch
	configMap                  = harness.ConfigMap
	limitKind, configMapKind   = harness.LimitKind, harness.ConfigMapKind
	unknownKind                = harness.UnknownKind
)

const usualPolicy, usualBinding = harness.UsualPolicy, harness.UsualBinding

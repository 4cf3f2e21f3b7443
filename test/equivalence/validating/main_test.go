// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validating compares Kubernetes' ValidatingAdmissionPolicy plugin with Celador's: errors,
// warnings, audit annotations and metrics of the same requests.
//
// Examples are written by hand and state the expected outcome. Generated policies and fuzzing
// only compare the plugins. differences_test.go lists the wanted differences.
package validating

import (
	"testing"

	"celador.io/admission/policytest"

	"celador.io/celador/test/equivalence/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

type request = harness.Request

// Short names for the tables of examples.
var (
	must = harness.Must
	says = harness.Sorted

	everything, matching, rule = policytest.Everything, policytest.Match, policytest.Rule
	labelled                   = harness.Labelled
	when, let                  = harness.Conditions, harness.Variables

	limit, configMap = harness.Limit, harness.ConfigMap

	configMapKind, namespaceKind = harness.ConfigMapKind, harness.NamespaceKind
	limitKind, clusterLimitKind  = harness.LimitKind, harness.ClusterLimitKind
	unknownKind                  = harness.UnknownKind
)

const usualPolicy, usualBinding = harness.UsualPolicy, harness.UsualBinding

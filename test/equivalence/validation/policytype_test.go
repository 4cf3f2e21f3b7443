// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestPolicyType(t *testing.T) { testPolicyType(t, runPolicies) }

func TestPolicyTypeOfMutating(t *testing.T) { testPolicyType(t, runMutatingPolicies) }

func testPolicyType(t *testing.T, run func(*testing.T, []testCase)) {
	const (
		singleton = "spec: {policyType: Singleton}"
		params    = "paramKind: {apiVersion: v1, kind: ConfigMap}"
		forbidden = "spec.paramKind: Forbidden: a Singleton policy takes no parameters, as it has no binding to select them: remove paramKind or policyType"
	)
	unsupported := func(value string) string {
		return `spec.policyType: Unsupported value: "` + value + `": supported values: "Singleton"`
	}
	run(t, []testCase{
		{name: "singleton", patch: singleton},
		{name: "unknown", patch: "spec: {policyType: Several}", want: []string{unsupported("Several")}},
		{name: "empty", patch: "spec: {policyType: ''}", want: []string{unsupported("")}},
		{name: "other case", patch: "spec: {policyType: singleton}", want: []string{unsupported("singleton")}},
		{name: "singleton with params", patch: "spec: {policyType: Singleton, " + params + "}", want: []string{forbidden}},
		{
			name:  "singleton with bad params",
			patch: "spec: {policyType: Singleton, paramKind: {kind: ConfigMap}}",
			want:  []string{forbidden, "spec.paramKind.apiVersion: Required value"},
		},
		{name: "unknown with params", patch: "spec: {policyType: Several, " + params + "}", want: []string{unsupported("Several")}},

		{name: "becomes a singleton", patch: singleton, old: new("")},
		{name: "is no singleton any more", old: new(singleton)},
		{name: "params for a type", patch: "spec: {" + params + "}", old: new(singleton)},
		{name: "becomes a singleton with params", patch: "spec: {policyType: Singleton, " + params + "}", old: new("spec: {" + params + "}"), want: []string{forbidden}},
		{name: "a singleton gets params", patch: "spec: {policyType: Singleton, " + params + "}", old: new(singleton), want: []string{forbidden}},
		{name: "stored with params", patch: "spec: {policyType: Singleton, failurePolicy: Ignore, " + params + "}", old: new("spec: {policyType: Singleton, " + params + "}")},
		{
			name:  "stored with other params",
			patch: "spec: {policyType: Singleton, " + params + "}",
			old:   new("spec: {policyType: Singleton, paramKind: {apiVersion: v1, kind: Secret}}"),
			want:  []string{forbidden},
		},
		{name: "stored unknown", patch: "spec: {policyType: Several, " + params + "}", old: new("spec: {policyType: Several}")},
		{name: "from one unknown to another", patch: "spec: {policyType: Many}", old: new("spec: {policyType: Several}"), want: []string{unsupported("Many")}},
	})
}

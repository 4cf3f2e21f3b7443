// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestTypeChecking(t *testing.T) {
	const (
		enforced = "spec: {typeChecking: Enforced}"
		unknown  = "spec: {typeChecking: Strict}"
	)
	unsupported := func(value string) []string {
		return []string{`spec.typeChecking: Unsupported value: "` + value + `": supported values: "Enforced", "Informational"`}
	}
	cases := []testCase{
		{name: "informational", patch: "spec: {typeChecking: Informational}"},
		{name: "enforced", patch: enforced},
		{name: "unknown", patch: unknown, want: unsupported("Strict")},
		{name: "empty", patch: "spec: {typeChecking: ''}", want: unsupported("")},
		{name: "other case", patch: "spec: {typeChecking: enforced}", want: unsupported("enforced")},

		{name: "becomes enforced", patch: enforced, old: new("")},
		{name: "is not enforced any more", old: new(enforced)},
		{name: "becomes unknown", patch: unknown, old: new(enforced), want: unsupported("Strict")},
		{name: "stored unknown", patch: "spec: {typeChecking: Strict, failurePolicy: Ignore}", old: new(unknown)},
		{name: "from one unknown to another", patch: "spec: {typeChecking: Lax}", old: new(unknown), want: unsupported("Lax")},
	}
	t.Run("validating", func(t *testing.T) { runPolicies(t, cases) })
	t.Run("mutating", func(t *testing.T) { runMutatingPolicies(t, cases) })
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestBinding(t *testing.T) {
	runBindings(t, []testCase{
		{name: "valid"},
		{
			name:  "no spec",
			patch: "spec: null",
			want:  []string{"spec.policyName: Required value", `spec.validationActions: Required value: supported values: "Audit", "Deny", "Warn"`},
		},
		{
			name:  "bad names",
			patch: "{metadata: {name: A}, spec: {policyName: B}}",
			want: []string{
				`metadata.name: Invalid value: "A": ` + notSubdomain,
				`spec.policyName: Invalid value: "B": ` + notSubdomain,
			},
		},
		{
			name:  "missing fields are reported last",
			patch: "{metadata: {namespace: default}, spec: {policyName: '', validationActions: [], paramRef: {name: a}, matchResources: {matchPolicy: Roughly}}}",
			want: []string{
				"metadata.namespace: Forbidden: not allowed on this type",
				`spec.paramRef.parameterNotFoundAction: Required value: supported values: "Deny", "Allow"`,
				`spec.matchResources.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"`,
				"spec.policyName: Required value",
				`spec.validationActions: Required value: supported values: "Audit", "Deny", "Warn"`,
			},
		},
		{name: "deny and audit", patch: "spec: {validationActions: [Audit, Deny]}"},
		{name: "warn and audit", patch: "spec: {validationActions: [Warn, Audit]}"},
		{
			name:  "deny and warn",
			patch: "spec: {validationActions: [Warn, Deny]}",
			want: []string{`spec.validationActions: Invalid value: ["Warn","Deny"]: must not contain both Deny and Warn ` +
				"(repeating the same validation failure information in the API response and headers serves no purpose)"},
		},
		{
			name:  "unknown and repeated actions",
			patch: "spec: {validationActions: [Deny, Shout, Deny, Shout]}",
			want: []string{
				`spec.validationActions[1]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"`,
				`spec.validationActions[2]: Duplicate value: "Deny"`,
				`spec.validationActions[3]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"`,
				`spec.validationActions[3]: Duplicate value: "Shout"`,
			},
		},
	})
}

func TestBindingUpdate(t *testing.T) {
	runBindings(t, []testCase{
		{name: "other policy, action and params", patch: "spec: {policyName: other, validationActions: [Warn], paramRef: {name: a, parameterNotFoundAction: Deny}}", old: new("")},
		{
			name:  "fields taken away",
			patch: "spec: {policyName: null, validationActions: null, paramRef: {}}",
			old:   new(""),
			want: []string{
				"spec.paramRef: Required value: one of name or selector must be specified",
				`spec.paramRef.parameterNotFoundAction: Required value: supported values: "Deny", "Allow"`,
				"spec.policyName: Required value",
				`spec.validationActions: Required value: supported values: "Audit", "Deny", "Warn"`,
			},
		},
		{
			name:  "fields that were never there",
			patch: "spec: {policyName: null, validationActions: [], paramRef: {}}",
			old:   new("spec: {policyName: null, validationActions: null}"),
			want: []string{
				"spec.policyName: Required value",
				"spec.paramRef: Required value: one of name or selector must be specified",
				`spec.paramRef.parameterNotFoundAction: Required value: supported values: "Deny", "Allow"`,
				"spec.validationActions: Required value: at least one validation action is required",
			},
		},
		{
			name:  "faults that were there before",
			patch: "spec: {policyName: B}",
			old:   new("spec: {policyName: B}"),
			want:  []string{`spec.policyName: Invalid value: "B": ` + notSubdomain},
		},
	})
}

func TestBindingType(t *testing.T) { testBindingType(t, runBindings) }

func TestBindingTypeOfMutating(t *testing.T) { testBindingType(t, runMutatingBindings) }

func testBindingType(t *testing.T, run func(*testing.T, []testCase)) {
	unsupported := func(value string) string {
		return `spec.bindingType: Unsupported value: "` + value + `": supported values: "Fallback"`
	}
	run(t, []testCase{
		{name: "fallback", patch: "spec: {bindingType: Fallback}"},
		{name: "fallback with params", patch: "spec: {bindingType: Fallback, paramRef: {name: a, parameterNotFoundAction: Deny}}"},
		{name: "unknown", patch: "spec: {bindingType: Default}", want: []string{unsupported("Default")}},
		{name: "empty", patch: "spec: {bindingType: ''}", want: []string{unsupported("")}},
		{name: "becomes a fallback", patch: "spec: {bindingType: Fallback}", old: new("")},
		{name: "is no fallback any more", old: new("spec: {bindingType: Fallback}")},
		{name: "unknown, by an update", patch: "spec: {bindingType: Default}", old: new("spec: {bindingType: Fallback}"), want: []string{unsupported("Default")}},
		{name: "stored unknown", patch: "spec: {bindingType: Default, paramRef: {name: a, parameterNotFoundAction: Deny}}", old: new("spec: {bindingType: Default}")},
	})
}

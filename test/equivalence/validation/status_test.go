// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/validation"
)

func ourStatus(manifest, _ []byte, defaults defaulting) (field.ErrorList, error) {
	policy, err := decodePolicy(manifest, defaults)
	if err != nil {
		return nil, err
	}
	return validation.ValidateValidatingAdmissionPolicyStatus(&policy.Status), nil
}

func ourMutatingStatus(manifest, _ []byte, defaults defaulting) (field.ErrorList, error) {
	policy, err := decodeMutatingPolicy(manifest, defaults)
	if err != nil {
		return nil, err
	}
	return validation.ValidateMutatingAdmissionPolicyStatus(&policy.Status), nil
}

func TestStatusUpdate(t *testing.T) {
	conditions := func(list string) string { return "status: {conditions: [" + list + "]}" }
	observed := func(list string) string { return "status: {observedCustomResources: [" + list + "]}" }
	warnings := func(list string) string { return "status: {typeChecking: {expressionWarnings: [" + list + "]}}" }
	const (
		valid   = "{type: Ready, status: 'True', reason: AllGood, lastTransitionTime: '2026-01-02T03:04:05Z'}"
		path    = "status.conditions[0]"
		warning = "status.typeChecking.expressionWarnings"
		limit   = "{group: rules.example.com, version: v1, kind: Limit, generation: 3}"
		custom  = "status.observedCustomResources"
	)
	cases := []testCase{
		{name: "no status"},
		{name: "status", patch: "status: {observedGeneration: 3, typeChecking: {expressionWarnings: [{fieldRef: 'spec.validations[0].expression', warning: no such field}]}, conditions: [" + valid + "]}"},
		{name: "spec and metadata are not looked at", patch: "{metadata: {name: '!'}, spec: null}"},
		{
			name:  "empty condition",
			patch: conditions("{}"),
			want: []string{
				path + ".type: Required value: is required",
				path + ".status: Required value",
				path + ".lastTransitionTime: Required value",
				path + ".reason: Required value",
			},
		},
		{
			name:  "same condition twice",
			patch: conditions(valid + ", " + valid),
			want:  []string{`status.conditions[1]: Duplicate value: "Ready"`},
		},
		{
			name: "bad condition",
			patch: conditions("{type: '!', status: Maybe, reason: no good, observedGeneration: -1, lastTransitionTime: '2026-01-02T03:04:05Z', message: " +
				strings.Repeat("a", 32<<10+1) + "}"),
			want: []string{
				path + `.type: Invalid value: "!": ` + notNamePart,
				path + `.status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
				path + ".observedGeneration: Invalid value: -1: must be greater than or equal to zero",
				path + `.reason: Invalid value: "no good": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', ` +
					`and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', ` +
					`regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')`,
				path + ".message: Too long: may not be more than 32768 bytes",
			},
		},
		{name: "no warnings", patch: warnings("")},
		{
			name:  "empty warning",
			patch: warnings("{}, {fieldRef: ' '}"),
			want: []string{
				warning + "[0].warning: Required value",
				warning + "[0].fieldRef: Required value",
				warning + "[1].warning: Required value",
				warning + "[1].fieldRef: Required value",
			},
		},
		{name: "reference to no field", patch: warnings("{fieldRef: ' spec.foo[7].bar ', warning: a}")},
		{
			name:  "reference that is no path",
			patch: warnings("{fieldRef: ' spec.[ ', warning: a}"),
			want:  []string{warning + `[0].fieldRef: Invalid value: "spec.[": invalid JSONPath: unterminated array`},
		},
		{name: "custom resources", patch: observed(limit + ", {group: rules.example.com, version: v2, kind: Limit, generation: 3}, " +
			"{group: rules.example.com, version: v1, kind: Quota, generation: 0}, {group: other.example.com, version: v1, kind: Limit}")},
		{
			name:  "empty custom resource",
			patch: observed("{}"),
			want: []string{
				custom + "[0].group: Required value",
				custom + "[0].version: Required value",
				custom + "[0].kind: Required value",
			},
		},
		{
			name:  "generation that cannot be",
			patch: observed(limit + ", {group: rules.example.com, version: v1, kind: Quota, generation: -1}"),
			want:  []string{custom + "[1].generation: Invalid value: -1: must be greater than or equal to 0"},
		},
		{
			name:  "same custom resource twice",
			patch: observed(limit + ", {group: rules.example.com, version: v1, kind: Limit, generation: 4}"),
			want:  []string{custom + `[1]: Duplicate value: "rules.example.com/v1, Kind=Limit"`},
		},
	}
	for i := range cases {
		cases[i].old = new("")
	}
	t.Run("validating", func(t *testing.T) { run(t, validPolicy, cases, ourStatus, stockStatus) })
	// Kubernetes' mutating policies have no status.
	t.Run("mutating", func(t *testing.T) { run(t, validMutatingPolicy, cases, ourMutatingStatus, nil) })
}

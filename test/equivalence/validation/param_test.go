// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestParamKind(t *testing.T) {
	kind := func(apiVersion, kind string) string {
		return "spec: {paramKind: {apiVersion: '" + apiVersion + "', kind: '" + kind + "'}}"
	}
	runPolicies(t, []testCase{
		{name: "of a group", patch: kind("rules.example.com/v1", "ReplicaLimit")},
		{name: "of the core group", patch: kind("v1", "ConfigMap")},
		{name: "of the core group, with slash", patch: kind("/v1", "ConfigMap")},
		{
			name:  "neither version nor kind",
			patch: kind("", ""),
			want:  []string{"spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"},
		},
		{
			name:  "two slashes",
			patch: kind("a/b/c", "Limit"),
			want:  []string{`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`},
		},
		{
			name:  "slash alone",
			patch: kind("/", "Limit"),
			want:  []string{`spec.paramKind.apiVersion: Invalid value: "/": version must be specified`},
		},
		{
			name:  "group without version",
			patch: kind("rules.example.com/", "Limit"),
			want:  []string{`spec.paramKind.apiVersion: Invalid value: "rules.example.com/": version must be specified`},
		},
		{
			name:  "bad group and bad version",
			patch: kind("Rules!/1", "Limit"),
			want: []string{
				`spec.paramKind.apiVersion: Invalid value: "Rules!": ` + notSubdomain,
				`spec.paramKind.apiVersion: Invalid value: "1": ` + notDNSLabel,
			},
		},
		{
			name:  "bad kind",
			patch: kind("v1", "Config_Map"),
			want:  []string{`spec.paramKind.kind: Invalid value: "Config_Map": may have mixed case, but should otherwise match: ` + notDNSLabel},
		},
		{
			name:  "kind with two faults",
			patch: kind("v1", "_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm"),
			want: []string{`spec.paramKind.kind: Invalid value: "_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm": ` +
				"may have mixed case, but should otherwise match: must be no more than 63 characters," + notDNSLabel},
		},
	})
}

func TestParamRef(t *testing.T) {
	ref := func(fields string) string { return "spec: {paramRef: {" + fields + "}}" }
	runBindings(t, []testCase{
		{name: "by name", patch: ref("name: limit, namespace: default, parameterNotFoundAction: Deny")},
		{name: "by selector", patch: ref("selector: {matchLabels: {a: b}}, parameterNotFoundAction: Allow")},
		{
			name:  "empty",
			patch: ref(""),
			want: []string{
				"spec.paramRef: Required value: one of name or selector must be specified",
				`spec.paramRef.parameterNotFoundAction: Required value: supported values: "Deny", "Allow"`,
			},
		},
		{
			name:  "name that is no path segment",
			patch: ref("name: a/b%c, parameterNotFoundAction: Deny"),
			want: []string{
				`spec.paramRef.name: Invalid value: "a/b%c": may not contain '/'`,
				`spec.paramRef.name: Invalid value: "a/b%c": may not contain '%'`,
			},
		},
		{
			name:  "name of two dots",
			patch: ref("name: .., parameterNotFoundAction: Deny"),
			want:  []string{`spec.paramRef.name: Invalid value: "..": may not be '..'`},
		},
		{
			name:  "both name and a bad selector",
			patch: ref("name: limit, selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}, parameterNotFoundAction: Deny"),
			want: []string{
				"spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
				"spec.paramRef.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
				"spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
			},
		},
		{
			name:  "empty action",
			patch: ref("name: limit, parameterNotFoundAction: ''"),
			want:  []string{`spec.paramRef.parameterNotFoundAction: Required value: supported values: "Deny", "Allow"`},
		},
		{
			name:  "unknown action",
			patch: ref("name: limit, parameterNotFoundAction: Warn"),
			want:  []string{`spec.paramRef.parameterNotFoundAction: Unsupported value: "Warn": supported values: "Deny", "Allow"`},
		},
	})
}

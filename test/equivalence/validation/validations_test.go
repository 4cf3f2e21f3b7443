// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestValidations(t *testing.T) {
	validation := func(fields string) string { return "spec: {validations: [{" + fields + "}]}" }
	const always = "expression: 'true', "
	runPolicies(t, []testCase{
		{name: "all fields", patch: validation(always + "message: ' no ', messageExpression: '\"no\"', reason: Forbidden")},
		{name: "authorizer", patch: validation("expression: authorizer.group(\"\").resource(\"pods\").check(\"create\").allowed()")},
		{
			name:  "params in all expressions",
			patch: "spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: object == params, messageExpression: string(params)}]}",
		},
		{
			name:  "no expression",
			patch: validation(""),
			want:  []string{"spec.validations[0].expression: Required value: expression is not specified"},
		},
		{
			name:  "blank expression",
			patch: validation(`expression: "\t\n "`),
			want:  []string{"spec.validations[0].expression: Required value: expression is not specified"},
		},
		{
			name:  "line and column",
			patch: validation(`expression: "  true &&\n  object.spec.replicas <= max"`),
			want: []string{`spec.validations[0].expression: Invalid value: "  true &&\n  object.spec.replicas <= max": compilation failed: ` +
				"ERROR: <input>:2:27: undeclared reference to 'max' (in container '')\n" +
				" |   object.spec.replicas <= max\n" +
				" | ..........................^"},
		},
		{
			name:  "two errors in one expression",
			patch: validation("expression: first && second"),
			want: []string{`spec.validations[0].expression: Invalid value: "first && second": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'first' (in container '')\n" +
				" | first && second\n" +
				" | ^\n" +
				"ERROR: <input>:1:10: undeclared reference to 'second' (in container '')\n" +
				" | first && second\n" +
				" | .........^"},
		},
		{
			name:  "unknown field of the request",
			patch: validation("expression: request.verb == \"create\""),
			want: []string{`spec.validations[0].expression: Invalid value: "request.verb == \"create\"": compilation failed: ` +
				"ERROR: <input>:1:8: undefined field 'verb'\n" +
				" | request.verb == \"create\"\n" +
				" | .......^"},
		},
		{
			name:  "bad regular expression",
			patch: validation("expression: \"'a'.matches('(')\""),
			want: []string{`spec.validations[0].expression: Invalid value: "'a'.matches('(')": compilation failed: ` +
				"ERROR: <input>:1:13: invalid matches argument\n" +
				" | 'a'.matches('(')\n" +
				" | ............^"},
		},
		{
			name:  "not a bool",
			patch: validation("expression: object.spec.replicas"),
			want:  []string{`spec.validations[0].expression: Invalid value: "object.spec.replicas": must evaluate to bool but got dyn`},
		},
		{
			name:  "blank message and message expression",
			patch: validation(always + "message: ' ', messageExpression: ' '"),
			want: []string{
				`spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified`,
				`spec.validations[0].message: Invalid value: " ": must be non-empty if specified`,
			},
		},
		{name: "message in line breaks", patch: validation(always + `message: "\n no \r\n"`)},
		{
			name:  "message with a line break",
			patch: validation(always + `message: "no\nno"`),
			want:  []string{`spec.validations[0].message: Invalid value: "no\nno": must not contain line breaks`},
		},
		{
			name:  "message with a carriage return",
			patch: validation(always + `message: "no\rno"`),
			want:  []string{`spec.validations[0].message: Invalid value: "no\rno": must not contain line breaks`},
		},
		{name: "expression with a line break and no message", patch: validation(`expression: "true ||\n false"`)},
		{
			name:  "message expression that is no string",
			patch: validation(always + "messageExpression: '1'"),
			want:  []string{`spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int`},
		},
		{
			name:  "message expression with the authorizer",
			patch: validation(always + "messageExpression: string(authorizer)"),
			want: []string{`spec.validations[0].messageExpression: Invalid value: "string(authorizer)": compilation failed: ` +
				"ERROR: <input>:1:8: undeclared reference to 'authorizer' (in container '')\n" +
				" | string(authorizer)\n" +
				" | .......^"},
		},
		{
			name:  "message expression with params but no paramKind",
			patch: validation(always + "messageExpression: '  params.x'"),
			want: []string{`spec.validations[0].messageExpression: Invalid value: "  params.x": compilation failed: ` +
				"ERROR: <input>:1:3: undeclared reference to 'params' (in container '')\n" +
				" |   params.x\n" +
				" | ..^"},
		},
		{name: "reason invalid", patch: validation(always + "reason: Invalid")},
		{name: "reason too large", patch: validation(always + "reason: RequestEntityTooLarge")},
		{
			name:  "other reason",
			patch: validation(always + "reason: Unauthorized"),
			want:  []string{`spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`},
		},
		{
			name:  "empty reason",
			patch: validation(always + "reason: ''"),
			want:  []string{`spec.validations[0].reason: Unsupported value: "": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`},
		},
	})
}

func TestValidationFailurePolicy(t *testing.T) {
	const unsupported = `spec.validations[1].failurePolicy: Unsupported value: "Sometimes": supported values: "Fail", "Ignore"`
	second := func(fields string) string {
		return "spec: {validations: [{expression: 'true'}, {expression: 'true', " + fields + "}]}"
	}
	runPolicies(t, []testCase{
		{name: "ignore", patch: second("failurePolicy: Ignore")},
		{name: "fail", patch: second("failurePolicy: Fail")},
		{name: "not defaulted, not required", patch: second("failurePolicy: null"), undefaulted: true, want: []string{
			`spec.failurePolicy: Required value: supported values: "Fail", "Ignore"`,
			`spec.matchConstraints.matchPolicy: Required value: supported values: "Equivalent", "Exact"`,
			"spec.matchConstraints.namespaceSelector: Required value",
			"spec.matchConstraints.objectSelector: Required value",
		}},
		{name: "unknown", patch: second("failurePolicy: Sometimes"), want: []string{unsupported}},
		{name: "empty", patch: second("failurePolicy: ''"), want: []string{`spec.validations[1].failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"`}},
		{name: "unknown, by an update", patch: second("failurePolicy: Sometimes"), old: new(second("failurePolicy: Ignore")), want: []string{unsupported}},
		{name: "stored unknown", patch: second("failurePolicy: Sometimes, message: refused"), old: new(second("failurePolicy: Sometimes"))},
		{name: "stored unknown, at another place", patch: "spec: {validations: [{expression: 'true', failurePolicy: Sometimes}]}", old: new(second("failurePolicy: Sometimes"))},
		{
			name:  "one unknown for another",
			patch: second("failurePolicy: Sometimes"),
			old:   new(second("failurePolicy: Seldom")),
			want:  []string{unsupported},
		},
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPolicyUpdate(t *testing.T) {
	const unchecked = "matchConditions: [{name: '', expression: nothing}]"
	runPolicies(t, []testCase{
		{name: "nothing changes", old: new("")},
		{name: "everything changes", patch: "spec: {failurePolicy: Ignore, validations: [{expression: 'true'}], variables: [{name: a, expression: '1'}]}", old: new("")},
		{
			name:  "faults that were there before",
			patch: "spec: {failurePolicy: Sometimes, validations: [{expression: nothing}]}",
			old:   new("spec: {failurePolicy: Sometimes, validations: [{expression: nothing}]}"),
			want: []string{
				`spec.failurePolicy: Unsupported value: "Sometimes": supported values: "Fail", "Ignore"`,
				`spec.validations[0].expression: Invalid value: "nothing": compilation failed: ` +
					"ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n" +
					" | nothing\n" +
					" | ^",
			},
		},
		{
			name:  "same match conditions",
			patch: "spec: {failurePolicy: Ignore, " + unchecked + "}",
			old:   new("spec: {" + unchecked + "}"),
		},
		{
			name:  "same match conditions, but paramKind is gone",
			patch: "spec: {matchConditions: [{name: a, expression: params.x == 1}]}",
			old:   new("spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, matchConditions: [{name: a, expression: params.x == 1}]}"),
			want: []string{`spec.matchConditions[0].expression: Invalid value: "params.x == 1": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n" +
				" | params.x == 1\n" +
				" | ^"},
		},
		{
			name:  "same match conditions, but another paramKind",
			patch: "spec: {paramKind: {apiVersion: v1, kind: Secret}, " + unchecked + "}",
			old:   new("spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, " + unchecked + "}"),
			want: []string{
				`spec.matchConditions[0].expression: Invalid value: "nothing": compilation failed: ` +
					"ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n" +
					" | nothing\n" +
					" | ^",
				"spec.matchConditions[0].name: Required value",
			},
		},
		{
			name:  "one match condition more",
			patch: "spec: {matchConditions: [{name: a, expression: '1'}, {name: b, expression: 'true'}]}",
			old:   new("spec: {matchConditions: [{name: a, expression: '1'}]}"),
			want:  []string{`spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int`},
		},
		{
			name:  "no match conditions, written in two ways",
			patch: "spec: {matchConditions: []}",
			old:   new("spec: {matchConditions: null}"),
		},
	})
}

// includes is a function that is new in 1.37. A 1.37 server rejects it in new expressions, because
// a 1.36 server does not have it after a rollback.
const (
	includes     = "[1].includes(1)"
	includesText = "string([1].includes(1))"
)

func TestNewFunctions(t *testing.T) {
	refused := func(path, source, column string) string {
		position := strings.Index(source, "(1)")
		return path + `: Invalid value: "` + source + `": compilation failed: ` +
			"ERROR: <input>:1:" + column + ": undeclared reference to 'includes' (in container '')\n" +
			" | " + source + "\n | " + strings.Repeat(".", position) + "^"
	}
	const (
		condition  = "spec: {matchConditions: [{name: a, expression: '" + includes + "'}]}"
		two        = "spec: {matchConditions: [{name: a, expression: '" + includes + "'}, {name: b, expression: 'true'}]}"
		expression = "spec: {validations: [{expression: '" + includes + "'}]}"
		message    = "spec: {validations: [{expression: 'true', messageExpression: '" + includesText + "'}]}"
		annotation = "spec: {auditAnnotations: [{key: a, valueExpression: '" + includesText + "'}]}"
		variable   = "spec: {variables: [{name: a, expression: '" + includes + "'}]}"
	)
	runPolicies(t, []testCase{
		{name: "new match condition", patch: condition, want: []string{refused("spec.matchConditions[0].expression", includes, "13")}},
		{name: "new expression", patch: expression, want: []string{refused("spec.validations[0].expression", includes, "13")}},
		{name: "new message expression", patch: message, want: []string{refused("spec.validations[0].messageExpression", includesText, "20")}},
		{name: "new value expression", patch: annotation, want: []string{refused("spec.auditAnnotations[0].valueExpression", includesText, "20")}},
		{name: "new variable", patch: variable, want: []string{refused("spec.variables[0].expression", includes, "13")}},

		{name: "added by an update", patch: expression, old: new(""), want: []string{refused("spec.validations[0].expression", includes, "13")}},

		{name: "stored match condition", patch: two, old: new(condition)},
		{name: "stored expression", patch: expression, old: new(expression)},
		{name: "stored message expression", patch: message, old: new(message)},
		{name: "stored value expression", patch: annotation, old: new(annotation)},
	})

	// A stock server differs: it rejects an expression that it has stored itself.
	const (
		padded    = "spec: {matchConditions: [{name: a, expression: ' " + includes + " '}]}"
		paddedTwo = "spec: {matchConditions: [{name: a, expression: ' " + includes + " '}, {name: b, expression: 'true'}]}"
	)
	for _, c := range []testCase{
		{name: "stored variable", patch: variable, old: new(variable)},
		{name: "stored match condition with space around", patch: paddedTwo, old: new(padded)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ourPolicy(patched(t, validPolicy, c.patch), patched(t, validPolicy, *c.old), withDefaults)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, texts(got)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

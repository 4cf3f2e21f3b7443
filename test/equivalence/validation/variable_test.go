// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestVariables(t *testing.T) {
	variables := func(list, validation string) string {
		return "spec: {variables: [" + list + "], validations: [{expression: '" + validation + "'}]}"
	}
	runPolicies(t, []testCase{
		{
			name: "of every type",
			patch: variables(strings.Join([]string{
				"{name: aBool, expression: 'true'}",
				"{name: aString, expression: '\"s\"'}",
				"{name: aList, expression: '[1, 2]'}",
				"{name: aMap, expression: '{\"a\": [1u]}'}",
				"{name: aNull, expression: 'null'}",
				"{name: _2, expression: 'object.spec'}",
				"{name: aDuration, expression: 'duration(\"1s\")'}",
				"{name: anAuthorizer, expression: authorizer}",
				"{name: aType, expression: type(1)}",
				"{name: anOptional, expression: '{\"a\": 1}[?\"b\"]'}",
			}, ","), "variables.aBool && variables.aString.size() == variables.aList[0] && variables.aMap[\"a\"][0] == 1u && variables.aNull == null"+
				" && variables._2.replicas == 1 && variables.aDuration.getSeconds() == 1 && variables.anOptional.orValue(1) == 1"),
		},
		{
			name:  "read by later ones",
			patch: variables("{name: a, expression: '1'}, {name: b, expression: variables.a + 1}", "variables.b == 2"),
		},
		{
			name:  "read by message and audit annotation",
			patch: "spec: {variables: [{name: a, expression: '\"a\"'}], validations: [{expression: 'true', messageExpression: variables.a}], auditAnnotations: [{key: a, valueExpression: variables.a}]}",
		},
		{
			name:  "read by earlier ones",
			patch: variables("{name: b, expression: variables.a + 1}, {name: a, expression: '1'}", "variables.b == 2"),
			want: []string{`spec.variables[0].expression: Invalid value: "variables.a + 1": compilation failed: ` +
				"ERROR: <input>:1:10: undefined field 'a'\n" +
				" | variables.a + 1\n" +
				" | .........^"},
		},
		{
			name:  "not there",
			patch: "spec: {validations: [{expression: variables.a}]}",
			want: []string{`spec.validations[0].expression: Invalid value: "variables.a": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n" +
				" | variables.a\n" +
				" | ^"},
		},
		{
			name:  "of another type than used",
			patch: variables("{name: a, expression: '1'}", "variables.a == \"one\""),
			want: []string{`spec.validations[0].expression: Invalid value: "variables.a == \"one\"": compilation failed: ` +
				"ERROR: <input>:1:13: found no matching overload for '_==_' applied to '(int, string)'\n" +
				" | variables.a == \"one\"\n" +
				" | ............^"},
		},
		{
			name:  "with an error, which is reported once",
			patch: variables("{name: a, expression: '1 +'}", "variables.a == \"one\""),
			want: []string{`spec.variables[0].expression: Invalid value: "1 +": compilation failed: ` +
				"ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n" +
				" | 1 +\n" +
				" | ...^"},
		},
		{
			name:  "empty",
			patch: variables("{}, {name: ' ', expression: ' '}", "true"),
			want: []string{
				"spec.variables[0].name: Required value: name is not specified",
				"spec.variables[0].expression: Required value: expression is not specified",
				"spec.variables[1].name: Required value: name is not specified",
				"spec.variables[1].expression: Required value: expression is not specified",
			},
		},
		{
			name:  "params without a paramKind",
			patch: variables("{name: a, expression: params}", "true"),
			want: []string{`spec.variables[0].expression: Invalid value: "params": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n" +
				" | params\n" +
				" | ^"},
		},
		{
			name:  "same name twice",
			patch: variables("{name: a, expression: '1'}, {name: a, expression: '\"one\"'}", "variables.a == \"one\""),
		},
	})
}

func TestVariableNames(t *testing.T) {
	cases := []testCase{{
		name:  "identifiers",
		patch: "spec: {variables: [{name: a, expression: '1'}, {name: _, expression: '1'}, {name: A_1, expression: '1'}, {name: If, expression: '1'}, {name: int, expression: '1'}]}",
	}}
	for _, name := range []string{
		"1", "a-b", "a.b", "a b", " a", "ä", "a\n",
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
		"import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
	} {
		cases = append(cases, testCase{
			name:  fmt.Sprintf("%q", name),
			patch: fmt.Sprintf(`{"spec": {"variables": [{"name": %q, "expression": "1"}]}}`, name),
			want:  []string{fmt.Sprintf("spec.variables[0].name: Invalid value: %q: must be a valid CEL identifier", name)},
		})
	}
	runPolicies(t, cases)
}

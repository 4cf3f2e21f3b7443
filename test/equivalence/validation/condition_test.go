// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"strings"
	"testing"
)

// conditions returns a JSON list of n valid match conditions.
func conditions(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("{name: condition-%d, expression: 'true'}", i))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func TestMatchConditions(t *testing.T) {
	matchConditions := func(list string) string { return "spec: {matchConditions: [" + list + "]}" }
	runPolicies(t, []testCase{
		{name: "as many as allowed", patch: "spec: {matchConditions: " + conditions(64) + "}"},
		{
			name:  "too many",
			patch: "spec: {matchConditions: " + conditions(65) + "}",
			want:  []string{"spec.matchConditions: Too many: 65: must have at most 64 items"},
		},
		{
			name:  "all variables",
			patch: matchConditions("{name: all, expression: 'object == oldObject && request.operation == \"CREATE\" && has(namespaceObject.metadata) && authorizer.requestResource.check(\"get\").allowed()'}"),
		},
		{
			name:  "params with a paramKind",
			patch: "spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, matchConditions: [{name: params, expression: 'params != null'}]}",
		},
		{
			name:  "empty",
			patch: matchConditions("{}, {name: '', expression: ' '}"),
			want: []string{
				"spec.matchConditions[0].expression: Required value",
				"spec.matchConditions[0].name: Required value",
				"spec.matchConditions[1].expression: Required value",
				"spec.matchConditions[1].name: Required value",
			},
		},
		{
			name:  "same name twice",
			patch: matchConditions("{name: a, expression: 'true'}, {name: a, expression: 'false'}"),
			want:  []string{`spec.matchConditions[1].name: Duplicate value: "a"`},
		},
		{
			name:  "bad name twice",
			patch: matchConditions("{name: '!', expression: 'true'}, {name: '!', expression: 'false'}"),
			want: []string{
				`spec.matchConditions[0].name: Invalid value: "!": ` + notNamePart,
				`spec.matchConditions[1].name: Invalid value: "!": ` + notNamePart,
				`spec.matchConditions[1].name: Duplicate value: "!"`,
			},
		},
		{
			name:  "syntax error",
			patch: matchConditions("{name: a, expression: 'object.x =='}"),
			want: []string{`spec.matchConditions[0].expression: Invalid value: "object.x ==": compilation failed: ` +
				"ERROR: <input>:1:12: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n" +
				" | object.x ==\n" +
				" | ...........^"},
		},
		{
			name:  "columns count from the first character that is no space",
			patch: matchConditions("{name: a, expression: '  object == nothing '}"),
			want: []string{`spec.matchConditions[0].expression: Invalid value: "object == nothing": compilation failed: ` +
				"ERROR: <input>:1:11: undeclared reference to 'nothing' (in container '')\n" +
				" | object == nothing\n" +
				" | ..........^"},
		},
		{
			name:  "params without a paramKind",
			patch: matchConditions("{name: a, expression: 'params == null'}"),
			want: []string{`spec.matchConditions[0].expression: Invalid value: "params == null": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n" +
				" | params == null\n" +
				" | ^"},
		},
		{
			name:  "variables",
			patch: "spec: {variables: [{name: a, expression: 'true'}], matchConditions: [{name: a, expression: variables.a}]}",
			want: []string{`spec.matchConditions[0].expression: Invalid value: "variables.a": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n" +
				" | variables.a\n" +
				" | ^"},
		},
		{
			name:  "not a bool",
			patch: matchConditions("{name: a, expression: '1'}, {name: b, expression: object.x}"),
			want: []string{
				`spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int`,
				`spec.matchConditions[1].expression: Invalid value: "object.x": must evaluate to bool but got dyn`,
			},
		},
	})
}

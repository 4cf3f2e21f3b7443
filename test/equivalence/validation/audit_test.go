// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestAuditAnnotations(t *testing.T) {
	annotations := func(list string) string { return "spec: {auditAnnotations: [" + list + "]}" }
	value := func(expression string) string {
		return fmt.Sprintf(`{"spec": {"auditAnnotations": [{"key": "a", "valueExpression": %q}]}}`, expression)
	}
	// A string literal of 5120 bytes, quotes included.
	longest := "'" + strings.Repeat("a", 5118) + "'"

	var many, printed []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("{key: a%d, valueExpression: 'null'}", i))
		printed = append(printed, fmt.Sprintf(`{"Key":"a%d","ValueExpression":"null"}`, i))
	}

	runPolicies(t, []testCase{
		{name: "as many as allowed", patch: annotations(strings.Join(many[:20], ", "))},
		{
			name:  "too many",
			patch: annotations(strings.Join(many, ", ")),
			want: []string{"spec.auditAnnotations: Invalid value: [" + strings.Join(printed, ",") + "]: " +
				"must not have more than 20 auditAnnotations"},
		},
		{
			name:  "no key and no value",
			patch: annotations("{}, {}"),
			want: []string{
				`spec.auditAnnotations[0].key: Invalid value: "replicas.example.com/": name part must be non-empty`,
				`spec.auditAnnotations[0].key: Invalid value: "replicas.example.com/": ` + notNamePart,
				"spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified",
				`spec.auditAnnotations[1].key: Invalid value: "replicas.example.com/": name part must be non-empty`,
				`spec.auditAnnotations[1].key: Invalid value: "replicas.example.com/": ` + notNamePart,
				"spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified",
				`spec.auditAnnotations[1].key: Duplicate value: ""`,
			},
		},
		{
			name:  "same key twice",
			patch: annotations("{key: a, valueExpression: 'null'}, {key: a, valueExpression: '1'}"),
			want: []string{
				`spec.auditAnnotations[1].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int`,
				`spec.auditAnnotations[1].key: Duplicate value: "a"`,
			},
		},
		{
			name:  "bad key",
			patch: annotations("{key: 'a/b', valueExpression: 'null'}"),
			want:  []string{`spec.auditAnnotations[0].key: Invalid value: "replicas.example.com/a/b": ` + notQualifiedName},
		},
		{
			name:  "key that is too long",
			patch: annotations("{key: " + strings.Repeat("a", 64) + ", valueExpression: 'null'}"),
			want:  []string{`spec.auditAnnotations[0].key: Invalid value: "replicas.example.com/` + strings.Repeat("a", 64) + `": name part must be no more than 63 bytes`},
		},
		{
			name:  "policy without a name",
			patch: "{metadata: {name: null}, spec: {auditAnnotations: [{key: a, valueExpression: 'null'}]}}",
			want: []string{
				"metadata.name: Required value: name or generateName is required",
				`spec.auditAnnotations[0].key: Invalid value: "a": requires metadata.name be non-empty`,
			},
		},
		{name: "string", patch: value(`authorizer.requestResource.check("get").reason()`)},
		{name: "string or null", patch: value(`object == null ? "a" : "b"`)},
		{name: "longest value", patch: value(" " + longest + " ")},
		{
			name:  "value that is too long",
			patch: value("'a" + longest[1:]),
			want:  []string{"spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"},
		},
		{
			name:  "bytes count, not characters",
			patch: value("'ä" + longest[2:]),
			want:  []string{"spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"},
		},
		{
			name:  "blank value",
			patch: value(" "),
			want:  []string{"spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified"},
		},
		{
			name:  "value is quoted with surrounding space, and columns count without",
			patch: value("  nothing "),
			want: []string{`spec.auditAnnotations[0].valueExpression: Invalid value: "  nothing ": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n" +
				" | nothing\n" +
				" | ^"},
		},
		{
			name:  "value of another type",
			patch: value("object.x"),
			want:  []string{`spec.auditAnnotations[0].valueExpression: Invalid value: "object.x": must evaluate to one of [string null_type] but got dyn`},
		},
		{name: "text or null", patch: value("object == null ? 'text' : null")},
		{
			name:  "number or null",
			patch: value("object == null ? 1 : null"),
			want: []string{`spec.auditAnnotations[0].valueExpression: Invalid value: "object == null ? 1 : null": compilation failed: ` +
				"ERROR: <input>:1:16: found no matching overload for '_?_:_' applied to '(bool, int, null)'\n" +
				" | object == null ? 1 : null\n" +
				" | ...............^"},
		},
		{
			name:  "params without a paramKind",
			patch: value("params.x"),
			want: []string{`spec.auditAnnotations[0].valueExpression: Invalid value: "params.x": compilation failed: ` +
				"ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n" +
				" | params.x\n" +
				" | ^"},
		},
	})
}

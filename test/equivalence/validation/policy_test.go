// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestPolicy(t *testing.T) {
	runPolicies(t, []testCase{
		{name: "valid"},
		{
			name:  "no name",
			patch: "metadata: {name: null}",
			want:  []string{"metadata.name: Required value: name or generateName is required"},
		},
		{
			name:  "bad name",
			patch: "metadata: {name: Replicas_Limit}",
			want:  []string{`metadata.name: Invalid value: "Replicas_Limit": ` + notSubdomain},
		},
		{
			name:  "namespaced",
			patch: "metadata: {namespace: default}",
			want:  []string{"metadata.namespace: Forbidden: not allowed on this type"},
		},
		{
			name:  "bad label",
			patch: "metadata: {labels: {a/b/c: d}}",
			want:  []string{`metadata.labels: Invalid value: "a/b/c": ` + notQualifiedName},
		},
		{
			name:  "same fault twice",
			patch: "metadata: {labels: {a: '!', b: '!'}}",
			want:  []string{`metadata.labels: Invalid value: "!": ` + notLabelValue},
		},
		{
			name:  "no spec",
			patch: "spec: null",
			want: []string{
				"spec.matchConstraints: Required value",
				"spec.validations: Required value: validations or auditAnnotations must contain at least one item",
				"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
			},
		},
		{
			name:        "nothing at all",
			patch:       "{metadata: null, spec: null}",
			undefaulted: true,
			want: []string{
				"metadata.name: Required value: name or generateName is required",
				`spec.failurePolicy: Required value: supported values: "Fail", "Ignore"`,
				"spec.matchConstraints: Required value",
				"spec.validations: Required value: validations or auditAnnotations must contain at least one item",
				"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
			},
		},
		{name: "failure policy ignore", patch: "spec: {failurePolicy: Ignore}"},
		{
			name:  "unknown failure policy",
			patch: "spec: {failurePolicy: Sometimes}",
			want:  []string{`spec.failurePolicy: Unsupported value: "Sometimes": supported values: "Fail", "Ignore"`},
		},
		{
			name:  "empty failure policy",
			patch: "spec: {failurePolicy: ''}",
			want:  []string{`spec.failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"`},
		},
		{
			name:  "failure policy with markup",
			patch: "spec: {failurePolicy: <Fail>}",
			want:  []string{`spec.failurePolicy: Unsupported value: "\u003cFail\u003e": supported values: "Fail", "Ignore"`},
		},
		{
			name:  "no validations, but an audit annotation",
			patch: "spec: {validations: [], auditAnnotations: [{key: replicas, valueExpression: string(object.spec.replicas)}]}",
		},
		{
			name:  "empty lists",
			patch: "spec: {validations: [], auditAnnotations: []}",
			want: []string{
				"spec.validations: Required value: validations or auditAnnotations must contain at least one item",
				"spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
			},
		},
		{
			name: "errors come in the order of the checks",
			patch: `
metadata: {namespace: default}
spec:
  failurePolicy: Sometimes
  paramKind: {}
  matchConstraints: {matchPolicy: Roughly, resourceRules: []}
  matchConditions: [{}]
  variables: [{}]
  validations: [{}]
  auditAnnotations: [{key: a}]`,
			want: []string{
				"metadata.namespace: Forbidden: not allowed on this type",
				`spec.failurePolicy: Unsupported value: "Sometimes": supported values: "Fail", "Ignore"`,
				"spec.paramKind.apiVersion: Required value",
				"spec.paramKind.kind: Required value",
				`spec.matchConstraints.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"`,
				"spec.matchConstraints.resourceRules: Required value",
				"spec.matchConditions[0].expression: Required value",
				"spec.matchConditions[0].name: Required value",
				"spec.variables[0].name: Required value: name is not specified",
				"spec.variables[0].expression: Required value: expression is not specified",
				"spec.validations[0].expression: Required value: expression is not specified",
				"spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified",
			},
		},
	})
}

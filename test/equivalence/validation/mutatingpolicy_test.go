// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestMutatingPolicy(t *testing.T) {
	const noMutation = "spec.mutations: Required value: mutations must contain at least one item"
	runMutatingPolicies(t, []testCase{
		{name: "valid"},
		{
			name:  "bad metadata",
			patch: "metadata: {name: Replicas_Limit, namespace: default}",
			want: []string{
				`metadata.name: Invalid value: "Replicas_Limit": ` + notSubdomain,
				"metadata.namespace: Forbidden: not allowed on this type",
			},
		},
		{
			name:  "no spec",
			patch: "spec: null",
			want:  []string{"spec.matchConstraints: Required value", noMutation, `spec.reinvocationPolicy: Required value: supported values: "IfNeeded", "Never"`},
		},
		{
			name:        "nothing at all",
			patch:       "{metadata: null, spec: null}",
			undefaulted: true,
			want: []string{
				"metadata.name: Required value: name or generateName is required",
				`spec.failurePolicy: Required value: supported values: "Fail", "Ignore"`,
				"spec.matchConstraints: Required value",
				noMutation,
				`spec.reinvocationPolicy: Required value: supported values: "IfNeeded", "Never"`,
			},
		},
		{name: "failure policy ignore", patch: "spec: {failurePolicy: Ignore}"},
		{
			name:  "unknown failure policy",
			patch: "spec: {failurePolicy: Sometimes}",
			want:  []string{`spec.failurePolicy: Unsupported value: "Sometimes": supported values: "Fail", "Ignore"`},
		},
		{name: "reinvoked", patch: "spec: {reinvocationPolicy: IfNeeded}"},
		{
			name:  "unknown reinvocation policy",
			patch: "spec: {reinvocationPolicy: Always}",
			want:  []string{`spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`},
		},
		{
			name: "errors come in the order of the checks",
			patch: `
metadata: {namespace: default}
spec:
  failurePolicy: Sometimes
  typeChecking: Strict
  paramKind: {}
  matchConstraints: {matchPolicy: Roughly, resourceRules: []}
  matchConditions: [{}]
  variables: [{}]
  mutations: [{}]
  reinvocationPolicy: Always`,
			want: []string{
				"metadata.namespace: Forbidden: not allowed on this type",
				`spec.failurePolicy: Unsupported value: "Sometimes": supported values: "Fail", "Ignore"`,
				`spec.typeChecking: Unsupported value: "Strict": supported values: "Enforced", "Informational"`,
				"spec.paramKind.apiVersion: Required value",
				"spec.paramKind.kind: Required value",
				`spec.matchConstraints.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"`,
				"spec.matchConstraints.resourceRules: Required value",
				"spec.matchConditions[0].expression: Required value",
				"spec.matchConditions[0].name: Required value",
				"spec.variables[0].name: Required value: name is not specified",
				"spec.variables[0].expression: Required value: expression is not specified",
				`spec.mutations[0].patchType: Required value: supported values: "ApplyConfiguration", "JSONPatch"`,
				`spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`,
			},
		},
	})
}

func TestMutableOperations(t *testing.T) {
	const (
		constraints = `spec.matchConstraints.resourceRules`
		resources   = `spec.matchResources.resourceRules`
	)
	rule := func(operations string) string {
		return "{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [" + operations + "]}"
	}
	notDelete := func(path string) string {
		return path + `.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"`
	}
	runMutatingPolicies(t, []testCase{
		{name: "all that can change something", patch: "spec: {matchConstraints: {resourceRules: [" + rule("CREATE, UPDATE, CONNECT") + "]}}"},
		{name: "wildcard", patch: "spec: {matchConstraints: {resourceRules: [" + rule("'*'") + "]}}"},
		{name: "excluded", patch: "spec: {matchConstraints: {excludeResourceRules: [" + rule("DELETE") + "]}}"},
		{
			name:  "delete, in two rules",
			patch: "spec: {matchConstraints: {resourceRules: [" + rule("CREATE, DELETE") + ", " + rule("DELETE") + "]}}",
			want:  []string{notDelete(constraints)},
		},
		{
			name:  "unknown",
			patch: "spec: {matchConstraints: {resourceRules: [" + rule("PATCH") + "]}}",
			want: []string{
				constraints + `[0].operations[0]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
				constraints + `.operations: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "UPDATE"`,
			},
		},
	})
	runMutatingBindings(t, []testCase{
		{name: "binding to wildcard", patch: "spec: {matchResources: {resourceRules: [" + rule("'*'") + "]}}"},
		{name: "binding to delete", patch: "spec: {matchResources: {resourceRules: [" + rule("DELETE") + "]}}", want: []string{notDelete(resources)}},
		{name: "binding that excludes delete", patch: "spec: {matchResources: {excludeResourceRules: [" + rule("DELETE") + "]}}"},
	})
}

func TestMutatingBinding(t *testing.T) {
	runMutatingBindings(t, []testCase{
		{name: "valid"},
		{name: "no spec", patch: "spec: null", want: []string{"spec.policyName: Required value"}},
		{
			name:  "bad names",
			patch: "{metadata: {name: A, namespace: default}, spec: {policyName: B}}",
			want: []string{
				`metadata.name: Invalid value: "A": ` + notSubdomain,
				"metadata.namespace: Forbidden: not allowed on this type",
				`spec.policyName: Invalid value: "B": ` + notSubdomain,
			},
		},
		{name: "params and resources", patch: "spec: {paramRef: {name: a, parameterNotFoundAction: Deny}, matchResources: {}}"},
		{
			name:  "bad params and resources",
			patch: "spec: {policyName: '', paramRef: {}, matchResources: {matchPolicy: Roughly, resourceRules: [{}]}}",
			want: []string{
				"spec.policyName: Required value",
				"spec.paramRef: Required value: one of name or selector must be specified",
				`spec.paramRef.parameterNotFoundAction: Required value: supported values: "Deny", "Allow"`,
				`spec.matchResources.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"`,
				"spec.matchResources.resourceRules[0].operations: Required value",
				"spec.matchResources.resourceRules[0].apiGroups: Required value",
				"spec.matchResources.resourceRules[0].apiVersions: Required value",
				"spec.matchResources.resourceRules[0].resources: Required value",
			},
		},
		{name: "everything changes", patch: "spec: {policyName: other, paramRef: {name: a, parameterNotFoundAction: Deny}}", old: new("")},
		{name: "stays without a policy", patch: "spec: {policyName: null}", old: new("spec: {policyName: null}"), want: []string{"spec.policyName: Required value"}},
	})
}

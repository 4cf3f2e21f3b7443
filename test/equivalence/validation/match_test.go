// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
)

func TestMatchResources(t *testing.T) {
	const rule = "{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}"
	constraints := func(fields string) string { return "spec: {matchConstraints: {" + fields + "}}" }
	runPolicies(t, []testCase{
		{name: "exact", patch: constraints("matchPolicy: Exact")},
		{
			name:  "unknown match policy",
			patch: constraints("matchPolicy: Roughly"),
			want:  []string{`spec.matchConstraints.matchPolicy: Unsupported value: "Roughly": supported values: "Equivalent", "Exact"`},
		},
		{
			name:  "no rules",
			patch: constraints("resourceRules: null"),
			want:  []string{"spec.matchConstraints.resourceRules: Required value"},
		},
		{
			name:  "only exclude rules",
			patch: constraints("resourceRules: [], excludeResourceRules: [" + rule + "]"),
			want:  []string{"spec.matchConstraints.resourceRules: Required value"},
		},
		{
			name:        "without defaults",
			undefaulted: true,
			want: []string{
				`spec.failurePolicy: Required value: supported values: "Fail", "Ignore"`,
				`spec.matchConstraints.matchPolicy: Required value: supported values: "Equivalent", "Exact"`,
				"spec.matchConstraints.namespaceSelector: Required value",
				"spec.matchConstraints.objectSelector: Required value",
			},
		},
		{
			name:  "bad selectors",
			patch: constraints("namespaceSelector: {matchLabels: {a: 'b c'}}, objectSelector: {matchExpressions: [{key: a, operator: Near}]}"),
			want: []string{
				`spec.matchConstraints.namespaceSelector.matchLabels: Invalid value: "b c": ` + notLabelValue,
				`spec.matchConstraints.objectSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
			},
		},
		{
			name:  "selector with a bad value and no values",
			patch: constraints("namespaceSelector: {matchExpressions: [{key: a, operator: In}, {key: a, operator: NotIn, values: ['!']}]}"),
			want: []string{
				"spec.matchConstraints.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
				`spec.matchConstraints.namespaceSelector.matchExpressions[1].values[0]: Invalid value: "!": ` + notLabelValue,
			},
		},
	})
	runBindings(t, []testCase{
		{name: "binding without rules", patch: "spec: {matchResources: {}}"},
		{
			name:        "binding without defaults",
			patch:       "spec: {matchResources: {}}",
			undefaulted: true,
			want: []string{
				`spec.matchResources.matchPolicy: Required value: supported values: "Equivalent", "Exact"`,
				"spec.matchResources.namespaceSelector: Required value",
				"spec.matchResources.objectSelector: Required value",
			},
		},
		{
			name:  "binding with bad rules",
			patch: "spec: {matchResources: {resourceRules: [" + rule + ", {}], excludeResourceRules: [{}]}}",
			want: []string{
				"spec.matchResources.resourceRules[1].operations: Required value",
				"spec.matchResources.resourceRules[1].apiGroups: Required value",
				"spec.matchResources.resourceRules[1].apiVersions: Required value",
				"spec.matchResources.resourceRules[1].resources: Required value",
				"spec.matchResources.excludeResourceRules[0].operations: Required value",
				"spec.matchResources.excludeResourceRules[0].apiGroups: Required value",
				"spec.matchResources.excludeResourceRules[0].apiVersions: Required value",
				"spec.matchResources.excludeResourceRules[0].resources: Required value",
			},
		},
	})
}

// ruled returns a patch that sets one rule, which is valid except for the given fields.
func ruled(t testing.TB, fields string) string {
	const rule = "{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}"
	return "spec: {matchConstraints: {resourceRules: [" + string(patched(t, rule, "{"+fields+"}")) + "]}}"
}

func TestRules(t *testing.T) {
	const path = "spec.matchConstraints.resourceRules[0]"
	runPolicies(t, []testCase{
		{name: "everything", patch: ruled(t, "apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'], scope: '*'")},
		{name: "core group", patch: ruled(t, "apiGroups: ['']")},
		{name: "cluster scope", patch: ruled(t, "scope: Cluster")},
		{
			name:  "unknown scope",
			patch: ruled(t, "scope: Galaxy"),
			want:  []string{path + `.scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"`},
		},
		{
			name:  "nothing selected",
			patch: ruled(t, "apiGroups: [], apiVersions: [], resources: [], operations: []"),
			want: []string{
				path + ".operations: Required value",
				path + ".apiGroups: Required value",
				path + ".apiVersions: Required value",
				path + ".resources: Required value",
			},
		},
		{
			name:  "wildcards beside others",
			patch: ruled(t, "apiGroups: [apps, '*'], apiVersions: ['*', v1], operations: ['*', CREATE]"),
			want: []string{
				path + `.operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
				path + `.apiGroups: Invalid value: ["apps","*"]: if '*' is present, must not specify other API groups`,
				path + `.apiVersions: Invalid value: ["*","v1"]: if '*' is present, must not specify other API versions`,
			},
		},
		{
			name:  "unknown operations",
			patch: ruled(t, "operations: [CREATE, PATCH, '']"),
			want: []string{
				path + `.operations[1]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
				path + `.operations[2]: Unsupported value: "": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			},
		},
		{
			name:  "empty version",
			patch: ruled(t, "apiVersions: [v1, '']"),
			want:  []string{path + ".apiVersions[1]: Required value"},
		},
		{
			name:  "resource names",
			patch: ruled(t, "resourceNames: [web, a/b, ., web, a/b, '']"),
			want: []string{
				path + `.resourceNames[1]: Invalid value: "a/b": may not contain '/'`,
				path + `.resourceNames[2]: Invalid value: ".": may not be '.'`,
				path + `.resourceNames[3]: Duplicate value: "web"`,
				path + `.resourceNames[4]: Invalid value: "a/b": may not contain '/'`,
				path + `.resourceNames[4]: Duplicate value: "a/b"`,
			},
		},
	})
}

func TestResources(t *testing.T) {
	const path = "spec.matchConstraints.resourceRules[0].resources"
	resources := func(list string) string { return ruled(t, "resources: ["+list+"]") }
	runPolicies(t, []testCase{
		{name: "resources and subresources", patch: resources("pods, pods/status, deployments/scale")},
		{name: "all resources", patch: resources("'*'")},
		{name: "all subresources of one", patch: resources("pods/*")},
		{name: "one subresource of all", patch: resources("'*/scale'")},
		{name: "all resources and one subresource", patch: resources("'*', pods/status")},
		{name: "same resource twice", patch: resources("pods, pods")},
		{
			name:  "empty names",
			patch: resources("pods, '', ''"),
			want:  []string{path + "[1]: Required value", path + "[2]: Required value"},
		},
		{
			name:  "subresource after all of them",
			patch: resources("pods/*, pods/status, pods/*"),
			want: []string{
				path + `[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`,
				path + `[2]: Invalid value: "pods/*": if 'pods/*' is present, must not specify pods/*`,
			},
		},
		{name: "subresource before all of them", patch: resources("pods/status, pods/*")},
		{
			name:  "subresource after the same of all resources",
			patch: resources("'*/scale', deployments/scale"),
			want:  []string{path + `[1]: Invalid value: "deployments/scale": if '*/scale' is present, must not specify deployments/scale`},
		},
		{
			name:  "everything twice",
			patch: resources("'*/*', '*/*'"),
			want: []string{
				path + `[1]: Invalid value: "*/*": if '*/*' is present, must not specify */*`,
				path + `: Invalid value: ["*/*","*/*"]: if '*/*' is present, must not specify other resources`,
			},
		},
		{
			name:  "everything and more",
			patch: resources("pods, '*/*', pods/*, '*/status'"),
			want: []string{
				path + `[2]: Invalid value: "pods/*": if '*/*' is present, must not specify pods/*`,
				path + `[3]: Invalid value: "*/status": if '*/*' is present, must not specify */status`,
				path + `: Invalid value: ["pods","*/*","pods/*","*/status"]: if '*/*' is present, must not specify other resources`,
			},
		},
		{
			name:  "resource after all resources",
			patch: resources("'*', pods"),
			want:  []string{path + `: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`},
		},
		{name: "resource before all resources", patch: resources("pods, '*'")},
		{
			name:  "two slashes",
			patch: resources("'*/b/c', a/b/c"),
			want:  []string{path + `[1]: Invalid value: "a/b/c": if '*/b/c' is present, must not specify a/b/c`},
		},
	})
}

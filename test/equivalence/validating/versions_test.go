// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// versions are examples of resources that the API serves in several versions.
func versions() map[string]example {
	spec := func(policy v1.MatchPolicyType, rule v1.NamedRuleWithOperations, expressions ...string) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{MatchConstraints: matching(policy, rule), Validations: validating(expressions...)}
	}
	legacy := rule("extensions", "v1beta1", "deployments")
	noKind, noType := rule("apps", "v1beta1", "deployments"), rule("apps", "v9", "deployments")
	newer := rule("example.com", "v2", "widgets")
	excluding := spec(v1.Equivalent, rule("*", "*", "*"), "false")
	excluding.MatchConstraints.ExcludeResourceRules = append(excluding.MatchConstraints.ExcludeResourceRules, legacy)
	excludingExactly := spec(v1.Exact, rule("*", "*", "*"), "false")
	excludingExactly.MatchConstraints.ExcludeResourceRules = excluding.MatchConstraints.ExcludeResourceRules
	form := spec(v1.Equivalent, legacy, "object.spec.replicas > 100")
	form.Validations[0].MessageExpression = "object.apiVersion + ' ' + object.kind + ' of ' + request.requestKind.group + ' as ' + request.resource.group"
	const unknown = "denied by the policy: failed to configure policy: unable to convert to apps/v1beta1, Resource=deployments: unknown kind"
	const unconvertible = `denied: failed to configure binding: failed to convert object version: no kind "Deployment" is registered for version "apps/v9" in scheme "pkg/runtime/scheme.go:111"`
	return map[string]example{
		"exact":                         {spec: spec(v1.Exact, legacy, "false")},
		"exact, the one":                {spec: spec(v1.Exact, legacy, "false"), on: "create legacy", want: says(neverDenied)},
		"equivalent":                    {spec: spec(v1.Equivalent, legacy, "false"), want: says(neverDenied)},
		"equivalent, in that form":      {spec: form, want: says("denied: extensions/v1beta1 Deployment of apps as extensions")},
		"equivalent, the other way":     {spec: spec(v1.Equivalent, rule("apps", "v1", "deployments"), "object.apiVersion == 'apps/v1'"), on: "create legacy"},
		"equivalent without a kind":     {spec: spec(v1.Equivalent, noKind, "false"), want: says(unknown)},
		"the same, ignored":             {spec: ignoring(spec(v1.Equivalent, noKind, "false"))},
		"equivalent without a type":     {spec: spec(v1.Equivalent, noType, "false"), want: says(unconvertible)},
		"equivalent without type, deny": {spec: ignoring(spec(v1.Equivalent, noType, "false"))},
		"equivalent excluded":           {spec: excluding},
		"equivalent not excluded":       {spec: excludingExactly, want: says(neverDenied)},
		"custom":                        {spec: spec(v1.Equivalent, newer, "has(object.spec.size) && !has(object.spec.replicas) && object.apiVersion == 'example.com/v2'"), on: "create widget"},
		"custom, limit":                 {spec: spec(v1.Equivalent, newer, "object.spec.size <= 5"), on: "create widget", want: says("denied: failed expression: object.spec.size <= 5")},
		"custom, old object":            {spec: spec(v1.Equivalent, newer, "oldObject.spec.size <= 5"), on: "delete widget", want: says("denied: failed expression: oldObject.spec.size <= 5")},
		"custom, its own":               {spec: spec(v1.Exact, newer, "object.spec.size <= 5"), on: "create newer widget", want: says("denied: failed expression: object.spec.size <= 5")},
		"custom, downwards":             {spec: spec(v1.Equivalent, rule("example.com", "v1", "widgets"), "object.spec.replicas == 9"), on: "create newer widget"},
		"custom, exact":                 {spec: spec(v1.Exact, newer, "false"), on: "create widget"},
	}
}

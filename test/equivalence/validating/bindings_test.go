// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// bindings are examples of the match resources of bindings.
func bindings() map[string]example {
	bound := func(name string, m *v1.MatchResources, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
		b := bindingOf(name, usualPolicy, actions...)
		b.Spec.MatchResources = m
		return b
	}
	in := func(namespace string) *v1.MatchResources {
		m := matching(v1.Equivalent)
		m.NamespaceSelector = labelled("name", namespace)
		return m
	}
	excluding := matching(v1.Equivalent)
	excluding.ExcludeResourceRules = []v1.NamedRuleWithOperations{rule("apps", "*", "deployments")}
	byLabel := matching(v1.Equivalent)
	byLabel.ObjectSelector = labelled("app", "parts")
	of := func(spec v1.ValidatingAdmissionPolicySpec, want []string, bindings ...*v1.ValidatingAdmissionPolicyBinding) example {
		return example{spec: spec, bindings: bindings, want: want}
	}
	only := never
	only.MatchConstraints = matching(v1.Exact, rule("apps", "v1", "deployments"))
	denied, warned := says(neverDenied), "warned by policy.example.com with b: failed expression: false"
	const by = "denied by policy.example.com with "
	noKind := matching(v1.Equivalent, rule("apps", "v1beta1", "deployments"))
	return map[string]example{
		"none":                       of(never, nil, bindingOf("b", "other.example.com", v1.Deny)),
		"in one namespace":           of(never, denied, bound(usualBinding, in("blue"), v1.Deny)),
		"in another namespace":       of(never, nil, bound(usualBinding, in("green"), v1.Deny)),
		"for one resource":           of(never, denied, bound(usualBinding, matching(v1.Exact, rule("apps", "v1", "deployments")), v1.Deny)),
		"for another resource":       of(never, nil, bound(usualBinding, matching(v1.Exact, rule("apps", "v1", "daemonsets")), v1.Deny)),
		"for an equivalent":          of(never, denied, bound(usualBinding, matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments")), v1.Deny)),
		"wider than the policy":      {spec: only, bindings: []*v1.ValidatingAdmissionPolicyBinding{bound(usualBinding, everything(), v1.Deny)}, on: "create node"},
		"for a version without kind": of(never, says("denied: failed to configure binding: unable to convert to apps/v1beta1, Resource=deployments: unknown kind"), bound(usualBinding, noKind, v1.Deny)),
		"the same, ignored":          of(ignoring(never), nil, bound(usualBinding, noKind, v1.Deny)),
		"the same, only warning":     of(never, says("denied: failed to configure binding: unable to convert to apps/v1beta1, Resource=deployments: unknown kind"), bound(usualBinding, noKind, v1.Warn)),
		"excluding":                  of(never, nil, bound(usualBinding, excluding, v1.Deny)),
		"by label":                   of(never, nil, bound(usualBinding, byLabel, v1.Deny)),
		"two, one denies":            of(never, says(by+"a: failed expression: false"), bound("a", in("blue"), v1.Deny), bindingOf("b", usualPolicy)),
		"two, one warns":             of(never, says(by+"a: failed expression: false", warned), bindingOf("a", usualPolicy, v1.Deny), bindingOf("b", usualPolicy, v1.Warn)),
		"two, none denies": of(never, says(warned, `audited {"message":"failed expression: false","policy":"policy.example.com","binding":"a","expressionIndex":0,"validationActions":["Audit"]}`),
			bound("a", in("blue"), v1.Audit), bindingOf("b", usualPolicy, v1.Warn)),
		"of two policies": {
			spec: v1.ValidatingAdmissionPolicySpec{Validations: validating("true")}, others: []*v1.ValidatingAdmissionPolicy{policyOf("other.example.com", never)},
			bindings: []*v1.ValidatingAdmissionPolicyBinding{bindingOf("a", usualPolicy, v1.Deny), bindingOf("b", "other.example.com", v1.Deny)},
			want:     says("denied by other.example.com with b: failed expression: false"),
		},
	}
}

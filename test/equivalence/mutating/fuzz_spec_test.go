// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	policyscheme "celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/test/equivalence/harness"
)

// FuzzPolicySpec looks for policies and bindings that make Celador panic while they are
// defaulted or compiled, or while requests are mutated. All feature gates are on. The specs are
// JSON; an empty spec is generated.
func FuzzPolicySpec(f *testing.F) {
	for i, spec := range []string{
		"", "{}",
		`{"matchConstraints": {"resourceRules": [{}, {"scope": "?", "resources": ["", "/", "a/b/c"], "operations": [""]}], "namespaceSelector": {"matchExpressions": [{}]}}, "mutations": [{}]}`,
		`{"failurePolicy": "", "paramKind": {}, "typeChecking": "Enforced", "reinvocationPolicy": "?", "matchConditions": [{}], "variables": [{}], "mutations": [{"patchType": "?"}, {"patchType": "JSONPatch"}, {"expression": ""}]}`,
		`{"mutations": [{"expression": "JSONPatch{op: 'add', path: '/metadata/labels', value: request.userInfo}", "condition": "object.a", "message": "", "reason": "?", "reinvocationPolicy": "IfNeeded"}]}`,
		`{"mutations": [{"patchType": "JSONMergePatch", "jsonMergePatch": {"expression": "{'spec': null}"}}, {"patchType": "StrategicMergePatch", "strategicMergePatch": {"expression": "Object{spec: Object.spec{replicas: ip('1.2.3.4')}}"}}]}`,
		`{"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{free: {'b': [request.userInfo, cidr('10.0.0.0/8')]}}}"}}], "reinvocationPolicy": "IfNeeded"}`,
	} {
		f.Add([]byte(spec), []byte(nil), uint64(i))
		f.Add([]byte(spec), []byte(`{"paramRef": {"selector": {"matchExpressions": [{}]}}, "matchResources": {"excludeResourceRules": [{}]}}`), uint64(i))
	}
	gates := harness.Gates(f, features.MutatingAdmissionPolicyInlineExpressions, features.AdmissionPolicyTypeEnforcement)
	f.Fuzz(func(t *testing.T, spec, bindingSpec []byte, seed uint64) {
		g := newGenerator(seed, 1)
		policy := policyOf(usualPolicy, g.policy())
		binding := g.binding(usualBinding, policy)
		if !harness.Replace(&policy.Spec, spec) || !harness.Replace(&binding.Spec, bindingSpec) {
			return
		}
		binding.Spec.PolicyName = usualPolicy
		policyscheme.Scheme.Default(policy)
		policyscheme.Scheme.Default(binding)
		synctest.Test(t, func(t *testing.T) {
			c := startWith(t, scenario{Policies: []*v1.MutatingAdmissionPolicy{policy}, Bindings: []*v1.MutatingAdmissionPolicyBinding{binding}}, gates)
			for _, name := range []string{"create", "create pod touched", "update", "delete", "exec", "create newer widget", "create node"} {
				if o := c.examine(t, c.celador, fixed[name]); o.panicked() {
					t.Errorf("%s: %s", name, o.text())
				}
			}
		})
	})
}

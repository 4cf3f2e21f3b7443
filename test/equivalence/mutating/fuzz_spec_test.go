// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"celador.io/celador/pkg/features"
	policyscheme "celador.io/celador/pkg/registry/admissionregistration/scheme"
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
	gates := allGates(f)
	f.Fuzz(func(t *testing.T, spec, bindingSpec []byte, seed uint64) {
		g := &generator{dice: rand.New(rand.NewPCG(seed, 1))}
		policy := policyOf(usualPolicy, g.policy())
		binding := g.binding(usualBinding, policy)
		if !replace(&policy.Spec, spec) || !replace(&binding.Spec, bindingSpec) {
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

// replace decodes a spec, if it is not empty. It returns false if the spec is not valid JSON.
func replace[T any](spec *T, manifest []byte) bool {
	if len(manifest) == 0 {
		return true
	}
	var decoded T
	if json.Unmarshal(manifest, &decoded) != nil {
		return false
	}
	*spec = decoded
	return true
}

// allGates enables all of Celador's own feature gates that concern mutating policies.
func allGates(f *testing.F) featuregate.FeatureGate {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := gates.SetFromMap(map[string]bool{
		string(features.MutatingAdmissionPolicyInlineExpressions): true,
		string(features.AdmissionPolicyTypeEnforcement):           true,
	}); err != nil {
		f.Fatal(err)
	}
	return gates
}

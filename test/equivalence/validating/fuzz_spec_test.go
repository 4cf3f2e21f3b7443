// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/validation"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	policyscheme "celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/test/equivalence/harness"
)

// FuzzPolicySpec looks for policies and bindings that make Celador panic while they are
// defaulted, validated or compiled, or while requests are validated. The specs are JSON; an empty
// spec is generated.
func FuzzPolicySpec(f *testing.F) {
	full := policyOf("", v1.ValidatingAdmissionPolicySpec{
		ParamKind:        limitKind,
		MatchConditions:  when("object != null", failing),
		Variables:        let("few", few, "bad", invalid),
		Validations:      []v1.Validation{{Expression: "variables.few", Message: "m", MessageExpression: "string(params.spec.most)"}, {Expression: wrongType}},
		AuditAnnotations: note("request.operation", "null"),
	})
	bound := using("", bySelector(labelled("set", "a")), v1.Deny, v1.Audit)
	bound.Spec.MatchResources = matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))
	for _, spec := range []any{nil, full.Spec, never, loopOf(3), map[string]any{}} {
		for _, binding := range []any{nil, bound.Spec, map[string]any{}} {
			f.Add(manifest(f, spec), manifest(f, binding), harness.Recording(1, 200))
		}
	}
	for _, spec := range []string{
		`{"matchConstraints": {"resourceRules": [{}, {"scope": "?", "resources": ["", "/", "a/b/c"], "operations": [""]}], "namespaceSelector": {"matchExpressions": [{}]}, "objectSelector": null, "matchPolicy": ""}}`,
		`{"failurePolicy": "", "paramKind": {}, "policyType": "Singleton", "typeChecking": "Enforced", "matchConditions": [{}], "variables": [{}, {"name": "a b"}], "validations": [{"failurePolicy": "?", "reason": ""}], "auditAnnotations": [{}]}`,
		`{"paramKind": {"apiVersion": "a/b/c", "kind": ""}, "typeChecking": "", "variables": [{"name": "a", "expression": "variables.a"}], "validations": [{"expression": "` + repeat("(", 260) + `"}]}`,
	} {
		f.Add([]byte(spec), []byte(`{"paramRef": {"selector": {"matchExpressions": [{}]}}, "validationActions": ["", "Deny", "Deny"], "bindingType": "Fallback", "matchResources": {}}`), []byte(nil))
		f.Add([]byte(spec), []byte(`{"paramRef": {}, "validationActions": null, "matchResources": {"excludeResourceRules": [{}]}}`), []byte{1})
	}
	gates := harness.Gates(f, features.ValidatingAdmissionPolicySingleton, features.ValidatingAdmissionPolicyValidationFailurePolicy,
		features.ValidatingAdmissionPolicyFallbackBinding, features.AdmissionPolicyTypeEnforcement)
	f.Fuzz(func(t *testing.T, spec, bindingSpec, choices []byte) {
		g := &generator{Generator: harness.Generator{Dice: harness.NewTape(choices)}}
		policy := policyOf(usualPolicy, g.policy())
		binding := g.binding(usualBinding, policy)
		if !harness.Replace(&policy.Spec, spec) || !harness.Replace(&binding.Spec, bindingSpec) {
			return
		}
		binding.Spec.PolicyName = usualPolicy
		admit(t, policy, binding)
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, scenario{
				Policies: []*v1.ValidatingAdmissionPolicy{policy},
				Bindings: []*v1.ValidatingAdmissionPolicyBinding{binding},
				Params:   g.params(),
			})
			c.run(t, gates)
			_, verdicts := c.celador.(policyinit.PolicyPlugin).VerdictStore()
			verdicts.SetVerdict(policy.Name, policy.UID, policy.Generation, nil)
			for _, name := range []string{"create", "delete without", "exec", "create newer widget", "create node", "create namespace"} {
				examine(t, c.celador, fixed[name])
			}
		})
	})
}

// admit defaults and validates a policy and a binding like the API. The caller stores invalid
// objects, too.
func admit(t *testing.T, policy *v1.ValidatingAdmissionPolicy, binding *v1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	t.Helper()
	policyscheme.Scheme.Default(policy)
	policyscheme.Scheme.Default(binding)
	return slices.Concat(
		validation.ValidateValidatingAdmissionPolicy(policy), validation.ValidateValidatingAdmissionPolicyBinding(binding), builtintypes.TypeChecks.Validating(policy))
}

func manifest(f *testing.F, spec any) []byte {
	if spec == nil {
		return nil
	}
	manifest, err := json.Marshal(spec)
	if err != nil {
		f.Fatal(err)
	}
	return manifest
}

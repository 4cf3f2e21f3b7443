// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtintypes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

func policyOf(mode *v1.TypeCheckingMode, group, version string, resources []string, expressions ...string) *v1.ValidatingAdmissionPolicy {
	policy := &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec: v1.ValidatingAdmissionPolicySpec{
			TypeChecking: mode,
			MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
				Operations: []v1.OperationType{v1.OperationAll},
				Rule:       v1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources},
			}}}},
		},
	}
	for _, expression := range expressions {
		policy.Spec.Validations = append(policy.Spec.Validations, v1.Validation{Expression: expression})
	}
	return policy
}

func withParams(apiVersion, kind string, policy *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	policy.Spec.ParamKind = &v1.ParamKind{APIVersion: apiVersion, Kind: kind}
	return policy
}

func TestValidate(t *testing.T) {
	enforced := new(v1.EnforcedTypeChecking)
	const invalid = "spec.validations[0].expression: Invalid value: "
	undefined := func(kind, field, source, caret string) string {
		return kind + ": ERROR: <input>:1:" + caret + ": undefined field '" + field + "'\n | " + source + "\n | "
	}
	for name, test := range map[string]struct {
		policy *v1.ValidatingAdmissionPolicy
		want   []string
	}{
		"fits":          {policyOf(enforced, "apps", "v1", []string{"deployments"}, "object.spec.replicas <= 5"), nil},
		"unset":         {policyOf(nil, "apps", "v1", []string{"deployments"}, "object.x"), nil},
		"informational": {policyOf(new(v1.InformationalTypeChecking), "apps", "v1", []string{"deployments"}, "object.x"), nil},
		"one type": {
			policyOf(enforced, "apps", "v1", []string{"deployments"}, "object.x == 1"),
			[]string{invalid + undefined("apps/v1, Kind=Deployment", "x", "object.x == 1", "7") + "......^"},
		},
		"two types": {
			policyOf(enforced, "", "v1", []string{"secrets", "configmaps"}, "object.x == 1"),
			[]string{invalid + undefined("/v1, Kind=ConfigMap", "x", "object.x == 1", "7") + "......^\n\n" +
				undefined("/v1, Kind=Secret", "x", "object.x == 1", "7") + "......^"},
		},
		"has() in one of two types": {
			policyOf(enforced, "", "v1", []string{"secrets", "configmaps"}, "!has(object.stringData) || object.stringData.x == 'x'"), nil,
		},
		"has() in neither of two types": {
			policyOf(enforced, "", "v1", []string{"secrets", "configmaps"}, "!has(object.x) || true"),
			[]string{invalid + undefined("/v1, Kind=ConfigMap", "x", "!has(object.x) || true", "5") + "....^\n\n" +
				undefined("/v1, Kind=Secret", "x", "!has(object.x) || true", "5") + "....^"},
		},
		"two expressions": {
			policyOf(enforced, "apps", "v1", []string{"deployments"}, "object.x == 1", "true", "object.y == 1"),
			[]string{
				invalid + undefined("apps/v1, Kind=Deployment", "x", "object.x == 1", "7") + "......^",
				"spec.validations[2].expression: Invalid value: " + undefined("apps/v1, Kind=Deployment", "y", "object.y == 1", "7") + "......^",
			},
		},
		"custom resource":       {policyOf(enforced, "example.com", "v1", []string{"widgets"}, "object.x == 1"), nil},
		"unknown version":       {policyOf(enforced, "apps", "v9", []string{"deployments"}, "object.x == 1"), nil},
		"every type":            {policyOf(enforced, "*", "*", []string{"*"}, "object.x == 1"), nil},
		"definition":            {policyOf(enforced, "apiextensions.k8s.io", "v1", []string{"customresourcedefinitions"}, "object.spec.scope == 'Cluster'"), nil},
		"definition, wrong":     {policyOf(enforced, "apiextensions.k8s.io", "v1", []string{"customresourcedefinitions"}, "object.x"), []string{invalid + undefined("apiextensions.k8s.io/v1, Kind=CustomResourceDefinition", "x", "object.x", "7") + "......^"}},
		"API service, wrong":    {policyOf(enforced, "apiregistration.k8s.io", "v1", []string{"apiservices"}, "object.x"), []string{invalid + undefined("apiregistration.k8s.io/v1, Kind=APIService", "x", "object.x", "7") + "......^"}},
		"policy, Celador's own": {policyOf(enforced, "admissionregistration.k8s.io", "v1", []string{"validatingadmissionpolicies"}, "object.spec.typeChecking == 'Enforced'"), nil},
		"built-in params":       {withParams("v1", "ConfigMap", policyOf(enforced, "apps", "v1", []string{"deployments"}, "params.data.x == 'x'")), nil},
		"built-in params, wrong": {
			withParams("v1", "ConfigMap", policyOf(enforced, "apps", "v1", []string{"deployments"}, "params.x == 1")),
			[]string{invalid + undefined("apps/v1, Kind=Deployment", "x", "params.x == 1", "7") + "......^"},
		},
		"custom params":            {withParams("example.com/v1", "Limit", policyOf(enforced, "apps", "v1", []string{"deployments"}, "params.x == 1")), nil},
		"custom params, wrong too": {withParams("example.com/v1", "Limit", policyOf(enforced, "apps", "v1", []string{"deployments"}, "object.x == params.x")), []string{invalid + undefined("apps/v1, Kind=Deployment", "x", "object.x == params.x", "7") + "......^"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.policy.DeepCopy()
			var got []string
			for _, err := range builtintypes.Validate(test.policy) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.policy); diff != "" {
				t.Errorf("the policy is changed (-before +after):\n%s", diff)
			}
		})
	}
}

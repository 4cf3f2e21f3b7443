// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtintypes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// matching returns match constraints for resources of one group and version.
func matching(group, version string, resources []string) *v1.MatchResources {
	rule := policytest.Rule(group, version, "")
	rule.Resources = resources
	return policytest.Match(v1.Equivalent, rule)
}

func policyOf(mode *v1.TypeCheckingMode, group, version string, resources []string, expressions ...string) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
		TypeChecking: mode, MatchConstraints: matching(group, version, resources), Validations: policytest.Validations(expressions...),
	})
}

// mutatingOf returns a mutating policy with the given mutations.
func mutatingOf(mode *v1.TypeCheckingMode, group, version string, resources []string, mutations ...v1.Mutation) *v1.MutatingAdmissionPolicy {
	return policytest.MutatingSpec("p", v1.MutatingAdmissionPolicySpec{
		TypeChecking: mode, MatchConstraints: matching(group, version, resources), Mutations: mutations,
	})
}

func withParams(apiVersion, kind string, policy *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	policy.Spec.ParamKind = &v1.ParamKind{APIVersion: apiVersion, Kind: kind}
	return policy
}

func TestValidate(t *testing.T) {
	enforced := new(v1.EnforcedTypeChecking)
	const invalid, everything = "spec.validations[0].expression: Invalid value: ", `types behind "*", of which only metadata is known`
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
			policyOf(enforced, "", "v1", []string{"secrets", "configmaps"}, "!has(object.x) || object.x.y == 1"), nil,
		},
		"two expressions": {
			policyOf(enforced, "apps", "v1", []string{"deployments"}, "object.x == 1", "true", "object.y == 1"),
			[]string{
				invalid + undefined("apps/v1, Kind=Deployment", "x", "object.x == 1", "7") + "......^",
				"spec.validations[2].expression: Invalid value: " + undefined("apps/v1, Kind=Deployment", "y", "object.y == 1", "7") + "......^",
			},
		},
		"custom resource": {policyOf(enforced, "example.com", "v1", []string{"widgets"}, "object.x == 1"), nil},
		"unknown version": {policyOf(enforced, "apps", "v9", []string{"deployments"}, "object.x == 1"), nil},
		"every type": {
			policyOf(enforced, "*", "*", []string{"*"}, "object.x == 1"),
			[]string{invalid + undefined(everything, "x", "object.x == 1", "7") + "......^"},
		},
		"every type, metadata":  {policyOf(enforced, "*", "*", []string{"*"}, "object.metadata.labels.size() < 5"), nil},
		"every type, misspelt":  {policyOf(enforced, "*", "*", []string{"*"}, "object.metadata.x == 1"), []string{invalid + undefined(everything, "x", "object.metadata.x == 1", "16") + "...............^"}},
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
			expect(t, builtintypes.TypeChecks.Validating, test.policy, test.want)
		})
	}
}

func TestValidateMutating(t *testing.T) {
	enforced, deployments := new(v1.EnforcedTypeChecking), []string{"deployments"}
	const invalid = "spec.mutations[0].applyConfiguration.expression: Invalid value: "
	for name, test := range map[string]struct {
		policy *v1.MutatingAdmissionPolicy
		want   []string
	}{
		"fits":            {mutatingOf(enforced, "apps", "v1", deployments, policytest.ApplyConfiguration("Object{spec: Object.spec{replicas: 5}}")), nil},
		"unset":           {mutatingOf(nil, "apps", "v1", deployments, policytest.ApplyConfiguration("Object{x: 1}")), nil},
		"informational":   {mutatingOf(new(v1.InformationalTypeChecking), "apps", "v1", deployments, policytest.ApplyConfiguration("Object{x: 1}")), nil},
		"custom resource": {mutatingOf(enforced, "example.com", "v1", []string{"widgets"}, policytest.ApplyConfiguration("Object{x: 1}")), nil},
		"policy, Celador's own": {
			mutatingOf(enforced, "admissionregistration.k8s.io", "v1", []string{"mutatingadmissionpolicies"}, policytest.ApplyConfiguration("Object{spec: Object.spec{typeChecking: 'Enforced'}}")), nil,
		},
		"constructed object": {
			mutatingOf(enforced, "apps", "v1", deployments, policytest.ApplyConfiguration("Object{x: 1}")),
			[]string{invalid + "apps/v1, Kind=Deployment: ERROR: <input>:1:9: undefined field 'x'\n | Object{x: 1}\n | ........^"},
		},
		"object that is read, in two mutations": {
			mutatingOf(enforced, "apps", "v1", deployments, policytest.ApplyConfiguration("object.x"), policytest.JSONPatch("[JSONPatch{op: object.y}]")),
			[]string{
				invalid + "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'x'\n | object.x\n | ......^",
				"spec.mutations[1].jsonPatch.expression: Invalid value: apps/v1, Kind=Deployment: ERROR: <input>:1:22: undefined field 'y'\n | [JSONPatch{op: object.y}]\n | .....................^",
			},
		},
		"has() in one of two types": {
			mutatingOf(enforced, "", "v1", []string{"secrets", "configmaps"}, policytest.JSONPatch("has(object.stringData) ? [JSONPatch{op: 'remove', path: '/stringData'}] : []")), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, builtintypes.TypeChecks.Mutating, test.policy, test.want)
		})
	}
}

// The errors of a policy are limited so that they fit into a response.
func TestManyErrors(t *testing.T) {
	const short = "object.x == 1"
	long := "'" + strings.Repeat("a", 3500) + "' == '' && object.x && object.y"
	for name, test := range map[string]struct {
		expressions []string
		errors      int
		last        string
	}{
		"as many as may be": {slices.Repeat([]string{short}, 100), 100, "spec.validations[99].expression: "},
		"one more":          {slices.Repeat([]string{short}, 101), 101, "spec: Invalid value: expressions do not fit types in 1 more cases"},
		"long ones":         {slices.Repeat([]string{long}, 50), 32, "spec: Invalid value: expressions do not fit types in 19 more cases"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := builtintypes.TypeChecks.Validating(policyOf(new(v1.EnforcedTypeChecking), "apps", "v1", []string{"deployments"}, test.expressions...))
			if len(errs) != test.errors {
				t.Fatalf("got %d errors, want %d", len(errs), test.errors)
			}
			if last := errs[len(errs)-1].Error(); !strings.HasPrefix(last, test.last) {
				t.Errorf("the last error is %q, want %q", last, test.last)
			}
			if size := len(errs.ToAggregate().Error()); size > 264<<10 {
				t.Errorf("the errors have %d bytes", size)
			}
		})
	}
}

// expect expects these errors, and that the policy is not changed.
func expect[P interface{ DeepCopy() P }](t *testing.T, validate func(P) field.ErrorList, policy P, want []string) {
	t.Helper()
	before := policy.DeepCopy()
	var got []string
	for _, err := range validate(policy) {
		got = append(got, err.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, policy); diff != "" {
		t.Errorf("the policy is changed (-before +after):\n%s", diff)
	}
}

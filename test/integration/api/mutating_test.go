// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	stockv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	stockapply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/util/retry"

	v1 "celador.io/api/admissionregistration/v1"
	apply "celador.io/client-go/applyconfigurations/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// Both libraries apply parts of one policy. Its variables are a single field, unlike those of a
// validating policy, and its match conditions are a list with keys.
func TestApplyMutatingPolicy(t *testing.T) {
	t.Parallel()
	name := testserver.UniqueName("apply")
	ours, theirs := celador(t, admin).AdmissionregistrationV1(), stock(t, admin).AdmissionregistrationV1()
	t.Cleanup(func() { remove(t, raw(t, admin, "v1", mutatingPolicies), name) })
	t.Cleanup(func() { remove(t, raw(t, admin, "v1", mutatingBindings), name) })

	first := apply.MutatingAdmissionPolicy(name).WithSpec(apply.MutatingAdmissionPolicySpec().
		WithMatchConstraints(apply.MatchResources().WithResourceRules(apply.NamedRuleWithOperations().
			WithAPIGroups("").WithAPIVersions("v1").WithOperations(v1.Create).WithResources("pods"))).
		WithMutations(apply.Mutation().WithPatchType(v1.PatchTypeJSONPatch).WithJSONPatch(apply.JSONPatch().WithExpression("[JSONPatch{}]"))).
		WithVariables(apply.Variable().WithName("one").WithExpression("1")).
		WithMatchConditions(apply.MatchCondition().WithName("first").WithExpression("true")).
		WithReinvocationPolicy(v1.NeverReinvocationPolicy))
	testserver.Must(ours.MutatingAdmissionPolicies().Apply(t.Context(), first, metav1.ApplyOptions{FieldManager: "author"}))(t)

	second := stockapply.MutatingAdmissionPolicy(name).WithSpec(stockapply.MutatingAdmissionPolicySpec().
		WithFailurePolicy(stockv1.Ignore).
		WithMatchConditions(stockapply.MatchCondition().WithName("second").WithExpression("true")))
	testserver.Must(theirs.MutatingAdmissionPolicies().Apply(t.Context(), second, metav1.ApplyOptions{FieldManager: "operator"}))(t)
	got := testserver.Must(ours.MutatingAdmissionPolicies().Get(t.Context(), name, metav1.GetOptions{}))(t)
	want := []v1.MatchCondition{{Name: "first", Expression: "true"}, {Name: "second", Expression: "true"}}
	if diff := cmp.Diff(want, got.Spec.MatchConditions); diff != "" || *got.Spec.FailurePolicy != v1.Ignore || len(got.Spec.Mutations) != 1 {
		t.Errorf("match conditions (-want +got):\n%s\nspec: %v", diff, got.Spec)
	}

	second.Spec.WithVariables(stockapply.Variable().WithName("two").WithExpression("2"))
	_, err := theirs.MutatingAdmissionPolicies().Apply(t.Context(), second, metav1.ApplyOptions{FieldManager: "operator"})
	expectConflict(t, err, "author", []string{".spec.variables"})

	bind := apply.MutatingAdmissionPolicyBinding(name).WithSpec(apply.MutatingAdmissionPolicyBindingSpec().WithPolicyName(name))
	testserver.Must(ours.MutatingAdmissionPolicyBindings().Apply(t.Context(), bind, metav1.ApplyOptions{FieldManager: "author"}))(t)
	narrow := stockapply.MutatingAdmissionPolicyBinding(name).WithSpec(stockapply.MutatingAdmissionPolicyBindingSpec().
		WithMatchResources(stockapply.MatchResources().WithMatchPolicy(stockv1.Exact)))
	bound := testserver.Must(theirs.MutatingAdmissionPolicyBindings().Apply(t.Context(), narrow, metav1.ApplyOptions{FieldManager: "operator"}))(t)
	if bound.Spec.PolicyName != name || *bound.Spec.MatchResources.MatchPolicy != stockv1.Exact {
		t.Errorf("got spec %v, want what both applied", bound.Spec)
	}
}

// Clients without the status field of mutating policies preserve the status.
func TestStockClientsKeepStatus(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(encoding, func(t *testing.T) {
			name, config := testserver.UniqueName("status"), speaking(t, encoding)
			ours, theirs := celador(t, config).AdmissionregistrationV1().MutatingAdmissionPolicies(), stock(t, config).AdmissionregistrationV1().MutatingAdmissionPolicies()
			create(t, raw(t, admin, "v1", mutatingPolicies), object(t, "v1", mutatingPolicies, name, fullMutatingPolicy))
			applied := apply.MutatingAdmissionPolicy(name).WithStatus(apply.MutatingAdmissionPolicyStatus().
				WithConditions(applymeta.Condition().WithType("Ready").WithStatus(metav1.ConditionTrue).WithReason("Checked").WithMessage("fine").
					WithLastTransitionTime(metav1.Unix(1, 0))).
				WithObservedCustomResources(apply.ObservedCustomResource().WithGroup("rules.example.com").WithVersion("v1").WithKind("Limit").WithGeneration(3)))
			testserver.Must(ours.ApplyStatus(t.Context(), applied, metav1.ApplyOptions{FieldManager: "checker"}))(t)

			for write, try := range map[string]func() error{
				"update": func() error {
					return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
						read := testserver.Must(theirs.Get(t.Context(), name, metav1.GetOptions{}))(t)
						read.Spec.FailurePolicy = new(stockv1.Fail)
						_, err := theirs.Update(t.Context(), read, metav1.UpdateOptions{})
						return err
					})
				},
				"patch": func() error {
					_, err := theirs.Patch(t.Context(), name, types.StrategicMergePatchType, []byte(`{"spec": {"reinvocationPolicy": "Never"}}`), metav1.PatchOptions{})
					return err
				},
				"apply": func() error {
					_, err := theirs.Apply(t.Context(), stockapply.MutatingAdmissionPolicy(name).WithSpec(stockapply.MutatingAdmissionPolicySpec().
						WithMatchConditions(stockapply.MatchCondition().WithName("other").WithExpression("true"))), metav1.ApplyOptions{FieldManager: "author"})
					return err
				},
			} {
				if err := try(); err != nil {
					t.Fatalf("%s: %v", write, err)
				}
				got := testserver.Must(ours.Get(t.Context(), name, metav1.GetOptions{}))(t)
				left := testserver.Must(apply.ExtractMutatingAdmissionPolicyStatus(got, "checker"))(t)
				if diff := cmp.Diff(content(t, applied), content(t, left)); diff != "" {
					t.Errorf("applied status after %s (-applied +left):\n%s", write, diff)
				}
			}
			got := testserver.Must(ours.Get(t.Context(), name, metav1.GetOptions{}))(t).Spec
			if *got.FailurePolicy != v1.Fail || got.ReinvocationPolicy != v1.NeverReinvocationPolicy || len(got.MatchConditions) < 2 {
				t.Errorf("spec is %+v, want what was written", got)
			}
		})
	}
}

// A strategic merge patch replaces the lists of a mutating policy, except for match conditions,
// which it merges by name.
func TestPatchesOfMutatingLists(t *testing.T) {
	t.Parallel()
	const patch = `{"spec": {"variables": [{"name": "doubled", "expression": "2"}], "matchConditions": [{"name": "always", "expression": "false"}]}}`
	for kind, want := range map[types.PatchType]string{
		types.StrategicMergePatchType: `[{name: humans, expression: "!request.userInfo.username.startsWith('system:')"}, {name: always, expression: "false"}]`,
		types.MergePatchType:          `[{name: always, expression: "false"}]`,
	} {
		for _, version := range versions[mutatingPolicies] {
			t.Run(string(kind)+" "+version, func(t *testing.T) {
				client := raw(t, admin, version, mutatingPolicies)
				sent := create(t, client, object(t, version, mutatingPolicies, testserver.UniqueName("patch"), fullMutatingPolicy))
				patched := testserver.Must(client.Patch(t.Context(), sent.GetName(), kind, []byte(patch), metav1.PatchOptions{}))(t)
				wanted := sent.Object["spec"].(map[string]any)
				wanted["variables"] = parse(t, "all: [{name: doubled, expression: '2'}]")["all"]
				wanted["matchConditions"] = parse(t, "all: "+want)["all"]
				if diff := cmp.Diff(any(wanted), patched.Object["spec"]); diff != "" {
					t.Errorf("spec (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// While the feature gate is disabled, the server responds like Kubernetes, which does not know
// the fields.
func TestInvalidMutations(t *testing.T) {
	t.Parallel()
	const mutations = `
reinvocationPolicy: Never
mutations:
- {patchType: JSONPatch, jsonPatch: {expression: "true"}}
- {patchType: ApplyConfiguration, jsonPatch: {expression: "[JSONPatch{}]"}}
- {expression: "null"}
- {patchType: JSONMergePatch, jsonMergePatch: {expression: "{}"}}
`
	for _, version := range versions[mutatingPolicies] {
		t.Run(version, func(t *testing.T) {
			sent := object(t, version, mutatingPolicies, testserver.UniqueName("invalid"), policy(mutations))
			_, err := raw(t, admin, version, mutatingPolicies).Create(t.Context(), sent, metav1.CreateOptions{})
			expectCauses(t, err, map[string]string{
				"spec.mutations[0].jsonPatch.expression": `Invalid value: "true": must evaluate to list(JSONPatch) but got bool`,
				"spec.mutations[1].applyConfiguration":   "Required value: must be specified when patchType is ApplyConfiguration",
				"spec.mutations[1].jsonPatch":            `Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration`,
				"spec.mutations[2].patchType":            `Required value: supported values: "ApplyConfiguration", "JSONPatch"`,
				"spec.mutations[3].patchType":            `Unsupported value: "JSONMergePatch": supported values: "ApplyConfiguration", "JSONPatch"`,
			})
		})
	}
}

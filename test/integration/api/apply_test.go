// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	stockv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	stockapply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/admissionregistration/v1"
	apply "celador.io/client-go/applyconfigurations/admissionregistration/v1"

	"celador.io/celador/test/integration/testserver"
)

// policy returns a policy spec in YAML with the required fields and the given ones.
func policy(fields string) string {
	return `
matchConstraints:
  resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
` + fields
}

// applied applies a spec in YAML to the named policy on behalf of a manager.
func applied(t *testing.T, version, name, spec, manager string, force bool) error {
	t.Helper()
	sent := testserver.Must(yaml.Marshal(object(t, version, policies, name, spec).Object))(t)
	options := metav1.PatchOptions{FieldManager: manager}
	if force {
		options.Force = &force
	}
	_, err := raw(t, admin, version, policies).Patch(t.Context(), name, types.ApplyYAMLPatchType, sent, options)
	return err
}

func TestApplyByTwoManagers(t *testing.T) {
	t.Parallel()
	for _, version := range versions[policies] {
		t.Run(version, func(t *testing.T) {
			name, client := testserver.UniqueName("apply"), raw(t, admin, version, policies)
			t.Cleanup(func() { remove(t, client, name) })
			for _, step := range []struct {
				manager, spec string
				force         bool
				// conflicts are the fields that the error names, none if the request succeeds.
				conflicts []string
				want      string
			}{{
				manager: "author",
				spec: policy(`
validations: [{expression: "variables.one == 1", message: one}]
variables: [{name: one, expression: "1"}]
matchConditions: [{name: first, expression: "true"}]`),
				want: `
validations: [{expression: "variables.one == 1", message: one}]
variables: [{name: one, expression: "1"}]
matchConditions: [{name: first, expression: "true"}]`,
			}, {
				// Elements with different keys are merged into lists that have keys.
				manager: "operator",
				spec: `
variables: [{name: two, expression: "2"}]
matchConditions: [{name: second, expression: "true"}]`,
				want: `
validations: [{expression: "variables.one == 1", message: one}]
variables: [{name: one, expression: "1"}, {name: two, expression: "2"}]
matchConditions: [{name: first, expression: "true"}, {name: second, expression: "true"}]`,
			}, {
				// A list without keys is replaced as a whole.
				manager:   "operator",
				spec:      `{validations: [{expression: "true"}], variables: [{name: one, expression: "11"}]}`,
				conflicts: []string{".spec.validations", `.spec.variables[name="one"]`},
				want: `
validations: [{expression: "variables.one == 1", message: one}]
variables: [{name: one, expression: "1"}, {name: two, expression: "2"}]
matchConditions: [{name: first, expression: "true"}, {name: second, expression: "true"}]`,
			}, {
				// A field that a manager no longer applies and that no other manager owns is
				// removed.
				manager: "operator",
				spec:    `{validations: [{expression: "true"}], variables: [{name: one, expression: "11"}]}`,
				force:   true,
				want: `
validations: [{expression: "true"}]
variables: [{name: one, expression: "11"}]
matchConditions: [{name: first, expression: "true"}]`,
			}, {
				// The author no longer owns the two fields, but still owns the others.
				manager: "author",
				spec:    policy(`matchConditions: [{name: third, expression: "true"}]`),
				want: `
validations: [{expression: "true"}]
variables: [{name: one, expression: "11"}]
matchConditions: [{name: third, expression: "true"}]`,
			}} {
				err := applied(t, version, name, step.spec, step.manager, step.force)
				if len(step.conflicts) > 0 {
					expectConflict(t, err, "author", step.conflicts)
				} else if err != nil {
					t.Fatalf("%s applies %s: %v", step.manager, step.spec, err)
				}
				spec := specOf(t, testserver.Must(client.Get(t.Context(), name, metav1.GetOptions{}))(t)).(map[string]any)
				for field, want := range parse(t, step.want) {
					if diff := cmp.Diff(want, spec[field]); diff != "" {
						t.Errorf("%s after %s applied (-want +got):\n%s", field, step.manager, diff)
					}
				}
			}
		})
	}
}

// expectConflict checks that the error names every field and the manager that owns it.
func expectConflict(t *testing.T, err error, manager string, fields []string) {
	t.Helper()
	if !apierrors.IsConflict(err) {
		t.Fatalf("got error %v, want a conflict", err)
	}
	var got []string
	for _, cause := range err.(apierrors.APIStatus).Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict || !strings.Contains(cause.Message, `"`+manager+`"`) {
			t.Errorf("got cause %v, want a conflict with %q", cause, manager)
		}
		got = append(got, cause.Field)
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("conflicting fields (-want +got):\n%s", diff)
	}
}

// Apply configurations of both libraries have the same effect and keep each other's fields.
func TestApplyConfigurations(t *testing.T) {
	t.Parallel()
	name := testserver.UniqueName("apply")
	ours, theirs := celador(t, admin).AdmissionregistrationV1(), stock(t, admin).AdmissionregistrationV1()
	t.Cleanup(func() { remove(t, raw(t, admin, "v1", policies), name) })
	t.Cleanup(func() { remove(t, raw(t, admin, "v1", bindings), name) })

	first := apply.ValidatingAdmissionPolicy(name).WithSpec(apply.ValidatingAdmissionPolicySpec().
		WithMatchConstraints(apply.MatchResources().WithResourceRules(apply.NamedRuleWithOperations().
			WithAPIGroups("").WithAPIVersions("v1").WithOperations(v1.Create).WithResources("pods"))).
		WithValidations(apply.Validation().WithExpression("variables.one == 1")).
		WithVariables(apply.Variable().WithName("one").WithExpression("1")))
	testserver.Must(ours.ValidatingAdmissionPolicies().Apply(t.Context(), first, metav1.ApplyOptions{FieldManager: "author"}))(t)
	second := stockapply.ValidatingAdmissionPolicy(name).WithSpec(stockapply.ValidatingAdmissionPolicySpec().
		WithFailurePolicy(stockv1.Ignore).
		WithVariables(stockapply.Variable().WithName("two").WithExpression("2")))
	_, err := theirs.ValidatingAdmissionPolicies().Apply(t.Context(), second, metav1.ApplyOptions{FieldManager: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	got := testserver.Must(ours.ValidatingAdmissionPolicies().Get(t.Context(), name, metav1.GetOptions{}))(t)
	want := []v1.Variable{{Name: "one", Expression: "1"}, {Name: "two", Expression: "2"}}
	if diff := cmp.Diff(want, got.Spec.Variables); diff != "" || *got.Spec.FailurePolicy != v1.Ignore || len(got.Spec.Validations) != 1 {
		t.Errorf("variables (-want +got):\n%s\nspec: %v", diff, got.Spec)
	}

	bind := apply.ValidatingAdmissionPolicyBinding(name).WithSpec(apply.ValidatingAdmissionPolicyBindingSpec().
		WithPolicyName(name).WithValidationActions(v1.Deny))
	testserver.Must(ours.ValidatingAdmissionPolicyBindings().Apply(t.Context(), bind, metav1.ApplyOptions{FieldManager: "author"}))(t)
	audit := stockapply.ValidatingAdmissionPolicyBinding(name).WithSpec(stockapply.ValidatingAdmissionPolicyBindingSpec().
		WithValidationActions(stockv1.Audit))
	bound := testserver.Must(theirs.ValidatingAdmissionPolicyBindings().Apply(t.Context(), audit, metav1.ApplyOptions{FieldManager: "operator"}))(t)
	if diff := cmp.Diff([]stockv1.ValidationAction{stockv1.Deny, stockv1.Audit}, bound.Spec.ValidationActions); diff != "" {
		t.Errorf("actions, a set (-want +got):\n%s", diff)
	}
}

// Managers own the fields that their writes changed: writes of an object own no status fields,
// and writes of its status own only status fields.
func TestFieldOwnership(t *testing.T) {
	t.Parallel()
	const conditions = `{"type": "Ready", "status": "True", "reason": "Checked", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}`
	eachPolicy(t, func(t *testing.T, version, resource string) {
		name, client := testserver.UniqueName("owner"), raw(t, admin, version, resource)
		t.Cleanup(func() { remove(t, client, name) })
		sent := object(t, version, resource, name, policy(rules[resource][0]))
		sent.Object["status"] = map[string]any{"observedGeneration": int64(7)}
		patch := testserver.Must(sent.MarshalJSON())(t)
		testserver.Must(client.Patch(t.Context(), name, types.ApplyYAMLPatchType, patch, metav1.PatchOptions{FieldManager: "author"}))(t)

		sent.Object["status"] = parse(t, `{observedGeneration: 1, conditions: [`+conditions+`]}`)
		sent.SetLabels(map[string]string{"ignored": "true"})
		patch = testserver.Must(sent.MarshalJSON())(t)
		got := testserver.Must(client.Patch(t.Context(), name, types.ApplyYAMLPatchType, patch, metav1.PatchOptions{FieldManager: "checker"}, "status"))(t)

		owned := map[string][]string{}
		for _, entry := range got.GetManagedFields() {
			if entry.Manager == "admission-policy-status" {
				continue // the server's own
			}
			if entry.APIVersion != group+"/"+version {
				t.Errorf("%s owns fields of %s", entry.Manager, entry.APIVersion)
			}
			var fields fieldpath.Set
			if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
				t.Fatal(err)
			}
			manager := entry.Manager + "/" + entry.Subresource
			fields.Leaves().Iterate(func(path fieldpath.Path) { owned[manager] = append(owned[manager], path.String()) })
			slices.Sort(owned[manager])
		}
		const ready = `.status.conditions[type="Ready"].`
		want := map[string][]string{
			"checker/status": {
				ready + "lastTransitionTime", ready + "message", ready + "reason", ready + "status", ready + "type",
				".status.observedGeneration",
			},
		}
		for field := range specOf(t, sent).(map[string]any) {
			want["author/"] = append(want["author/"], ".spec."+field)
		}
		slices.Sort(want["author/"])
		if diff := cmp.Diff(want, owned); diff != "" {
			t.Errorf("owned fields (-want +got):\n%s", diff)
		}
		if got.GetLabels() != nil {
			t.Errorf("a status write set labels %v", got.GetLabels())
		}
	})
}

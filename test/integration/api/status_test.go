// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"celador.io/celador/test/integration/testserver"
)

const someStatus = `
observedGeneration: 1
typeChecking:
  expressionWarnings:
  - {fieldRef: "spec.validations[0].expression", warning: dubious}
conditions:
- {type: Ready, status: "True", reason: Checked, message: fine, lastTransitionTime: "2026-01-01T00:00:00Z"}
observedCustomResources:
- {group: rules.example.com, version: v1, kind: Limit, generation: 3, uid: c0ffee}
`

// Each write changes one of spec, status and labels, or tries to.
func TestSpecAndStatusAreApart(t *testing.T) {
	simple := policy(`validations: [{expression: "true"}]`)
	other := policy(`validations: [{expression: "false"}]`)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			client := raw(t, admin, version, policies)
			sent := object(t, version, policies, testserver.UniqueName("status"), simple)
			sent.Object["status"] = parse(t, someStatus)
			sent.SetGeneration(42)
			created := must(client.Create(t.Context(), sent, metav1.CreateOptions{}))(t)
			t.Cleanup(func() { remove(t, client, sent.GetName()) })
			expectState(t, created, "creation", 1, "true", nil)

			// The server writes the status as well, but not between before and current.
			var before, current *unstructured.Unstructured
			change := func(subresource []string, edit func(*unstructured.Unstructured)) {
				t.Helper()
				if err := retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
					before = must(client.Get(t.Context(), sent.GetName(), metav1.GetOptions{}))(t)
					edited := before.DeepCopy()
					edit(edited)
					current, err = client.Update(t.Context(), edited, metav1.UpdateOptions{}, subresource...)
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			status := []string{"status"}

			change(status, func(u *unstructured.Unstructured) {
				u.Object["status"] = parse(t, someStatus)
				u.Object["spec"] = parse(t, other)
				u.SetLabels(map[string]string{"from": "status"})
			})
			expectState(t, current, "a status write", 1, "true", parse(t, someStatus))
			if len(current.GetLabels()) > 0 {
				t.Errorf("a status write set labels %v", current.GetLabels())
			}

			change(nil, func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"from": "update"}) })
			expectState(t, current, "a write of labels", 1, "true", statusOf(t, before))

			change(nil, func(u *unstructured.Unstructured) {
				u.Object["spec"] = parse(t, other)
				u.Object["status"] = parse(t, `{observedGeneration: 9}`)
			})
			expectState(t, current, "a write of the spec", 2, "false", statusOf(t, before))

			patch := []byte(`{"status": {"observedGeneration": 2, "typeChecking": null, "conditions": null, "observedCustomResources": null}, "spec": {"failurePolicy": "Ignore"}}`)
			current = must(client.Patch(t.Context(), current.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, status...))(t)
			expectState(t, current, "a status patch", 2, "false", parse(t, `{observedGeneration: 2}`))
			if policy, _, _ := unstructured.NestedString(current.Object, "spec", "failurePolicy"); policy != "Fail" {
				t.Errorf("a status patch set failurePolicy %s", policy)
			}
			current = must(client.Get(t.Context(), current.GetName(), metav1.GetOptions{}, status...))(t)
			expectState(t, current, "reading the status", 2, "false", statusOf(t, current))
			if statusOf(t, current)["observedGeneration"] != 2.0 {
				t.Errorf("reading the status: got %v, want generation 2", statusOf(t, current))
			}
		})
	}
}

func expectState(t *testing.T, got *unstructured.Unstructured, after string, generation int64, expression string, status map[string]any) {
	t.Helper()
	if got.GetGeneration() != generation {
		t.Errorf("after %s: generation %d, want %d", after, got.GetGeneration(), generation)
	}
	if validations, _, _ := unstructured.NestedSlice(got.Object, "spec", "validations"); !cmp.Equal(validations, []any{map[string]any{"expression": expression}}) {
		t.Errorf("after %s: validations %v, want expression %s", after, validations, expression)
	}
	gotStatus := statusOf(t, got)
	if diff := cmp.Diff(status, gotStatus); diff != "" && len(status)+len(gotStatus) > 0 {
		t.Errorf("after %s: status (-want +got):\n%s", after, diff)
	}
}

func statusOf(t *testing.T, obj *unstructured.Unstructured) map[string]any {
	t.Helper()
	status, _, _ := unstructured.NestedMap(content(t, obj), "status")
	return status
}

func TestStatusIsValidated(t *testing.T) {
	client := raw(t, admin, "v1", policies)
	current := create(t, client, object(t, "v1", policies, testserver.UniqueName("status"), policy(`validations: [{expression: "true"}]`)))
	current.Object["status"] = parse(t, `{conditions: [{type: Ready, status: Perhaps, reason: Checked, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}],
		observedCustomResources: [{group: rules.example.com, kind: Limit, generation: -1}]}`)
	_, err := client.UpdateStatus(t.Context(), current, metav1.UpdateOptions{})
	expectCauses(t, err, map[string]string{
		"status.conditions[0].status":                  `Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"`,
		"status.observedCustomResources[0].version":    "Required value",
		"status.observedCustomResources[0].generation": "Invalid value: -1: must be greater than or equal to 0",
	})
}

// Custom resources are told apart by group, version and kind: a manager replaces what it
// observed before, and nothing that another observed.
func TestObservedCustomResourcesAreApplied(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			client := raw(t, admin, version, policies)
			name := create(t, client, object(t, version, policies, testserver.UniqueName("observed"), policy(`validations: [{expression: "true"}]`))).GetName()
			apply := func(manager, resources string) (*unstructured.Unstructured, error) {
				sent := object(t, version, policies, name, "")
				delete(sent.Object, "spec")
				sent.Object["status"] = parse(t, "{observedCustomResources: ["+resources+"]}")
				return client.ApplyStatus(t.Context(), name, sent, metav1.ApplyOptions{FieldManager: manager})
			}
			const (
				limit   = "{group: rules.example.com, version: v1, kind: Limit, generation: 3}"
				newer   = "{group: rules.example.com, version: v1, kind: Limit, generation: 4}"
				next    = "{group: rules.example.com, version: v2, kind: Limit, generation: 3}"
				foreign = "{group: other.example.com, version: v1, kind: Limit, generation: 1}"
			)
			for _, step := range []struct{ manager, resources, want string }{
				{"first", limit + ", " + next, limit + ", " + next},
				{"second", foreign, limit + ", " + next + ", " + foreign},
				{"first", newer, newer + ", " + foreign},
			} {
				got := must(apply(step.manager, step.resources))(t)
				status, _, _ := unstructured.NestedMap(content(t, got), "status")
				want := parse(t, "{resources: ["+step.want+"]}")["resources"]
				if diff := cmp.Diff(want, status["observedCustomResources"]); diff != "" {
					t.Fatalf("after %s applied %s (-want +got):\n%s", step.manager, step.resources, diff)
				}
			}
			if _, err := apply("second", limit); !apierrors.IsConflict(err) {
				t.Errorf("another generation of what the first observed: got error %v, want a conflict", err)
			}
			if _, err := apply("second", limit+", "+limit); err == nil {
				t.Error("the same custom resource twice: got no error")
			}
		})
	}
}

// A status write never brings a deleted policy back.
func TestStatusOfMissingPolicy(t *testing.T) {
	client := raw(t, admin, "v1", policies)
	missing := object(t, "v1", policies, testserver.UniqueName("missing"), policy(`validations: [{expression: "true"}]`))
	patch := must(missing.MarshalJSON())(t)
	_, err := client.Patch(t.Context(), missing.GetName(), types.ApplyYAMLPatchType, patch, metav1.PatchOptions{FieldManager: "checker"}, "status")
	if !apierrors.IsNotFound(err) {
		t.Errorf("got error %v, want not found", err)
	}
}

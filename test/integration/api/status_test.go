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

// rules maps the resources of policies to two different rules in YAML.
var rules = map[string][]string{
	policies: {`validations: [{expression: "true"}]`, `validations: [{expression: "false"}]`},
	mutatingPolicies: {`
mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}]"}}]
reinvocationPolicy: Never`, `
mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{}, JSONPatch{}]"}}]
reinvocationPolicy: Never`},
}

// eachPolicy runs a test for the resources of policies in each version.
func eachPolicy(t *testing.T, test func(t *testing.T, version, resource string)) {
	t.Helper()
	for resource := range rules {
		for _, version := range versions[resource] {
			t.Run(resource+" "+version, func(t *testing.T) { test(t, version, resource) })
		}
	}
}

// Each write changes, or tries to change, one of spec, status and labels.
func TestSpecAndStatusAreApart(t *testing.T) {
	t.Parallel()
	eachPolicy(t, func(t *testing.T, version, resource string) {
		simple, other := rules[resource][0], rules[resource][1]
		client := raw(t, admin, version, resource)
		sent := object(t, version, resource, testserver.UniqueName("status"), policy(simple))
		sent.Object["status"] = parse(t, someStatus)
		sent.SetGeneration(42)
		created := testserver.Must(client.Create(t.Context(), sent, metav1.CreateOptions{}))(t)
		t.Cleanup(func() { remove(t, client, sent.GetName()) })
		expectState(t, created, "creation", 1, simple, nil)

		// The server also writes the status, but not between before and current.
		var before, current *unstructured.Unstructured
		change := func(subresource []string, edit func(*unstructured.Unstructured)) {
			t.Helper()
			if err := retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
				before = testserver.Must(client.Get(t.Context(), sent.GetName(), metav1.GetOptions{}))(t)
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
			u.Object["spec"] = parse(t, policy(other))
			u.SetLabels(map[string]string{"from": "status"})
		})
		expectState(t, current, "a status write", 1, simple, parse(t, someStatus))
		if len(current.GetLabels()) > 0 {
			t.Errorf("a status write set labels %v", current.GetLabels())
		}

		change(nil, func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"from": "update"}) })
		expectState(t, current, "a write of labels", 1, simple, statusOf(t, before))

		change(nil, func(u *unstructured.Unstructured) {
			u.Object["spec"] = parse(t, policy(other))
			u.Object["status"] = parse(t, `{observedGeneration: 9}`)
		})
		expectState(t, current, "a write of the spec", 2, other, statusOf(t, before))

		patch := []byte(`{"status": {"observedGeneration": 2, "typeChecking": null, "conditions": null, "observedCustomResources": null}, "spec": {"failurePolicy": "Ignore"}}`)
		current = testserver.Must(client.Patch(t.Context(), current.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, status...))(t)
		expectState(t, current, "a status patch", 2, other, parse(t, `{observedGeneration: 2}`))
		if policy, _, _ := unstructured.NestedString(current.Object, "spec", "failurePolicy"); policy != "Fail" {
			t.Errorf("a status patch set failurePolicy %s", policy)
		}
		current = testserver.Must(client.Get(t.Context(), current.GetName(), metav1.GetOptions{}, status...))(t)
		expectState(t, current, "reading the status", 2, other, statusOf(t, current))
		if statusOf(t, current)["observedGeneration"] != 2.0 {
			t.Errorf("reading the status: got %v, want generation 2", statusOf(t, current))
		}
	})
}

func expectState(t *testing.T, got *unstructured.Unstructured, after string, generation int64, rules string, status map[string]any) {
	t.Helper()
	if got.GetGeneration() != generation {
		t.Errorf("after %s: generation %d, want %d", after, got.GetGeneration(), generation)
	}
	spec := specOf(t, got).(map[string]any)
	for field, want := range parse(t, rules) {
		if diff := cmp.Diff(want, spec[field]); diff != "" {
			t.Errorf("after %s: %s (-want +got):\n%s", after, field, diff)
		}
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
	t.Parallel()
	eachPolicy(t, func(t *testing.T, version, resource string) {
		client := raw(t, admin, version, resource)
		current := create(t, client, object(t, version, resource, testserver.UniqueName("status"), policy(rules[resource][0])))
		current.Object["status"] = parse(t, `{conditions: [{type: Ready, status: Perhaps, reason: Checked, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}],
			observedCustomResources: [{group: rules.example.com, kind: Limit, generation: -1}]}`)
		_, err := client.UpdateStatus(t.Context(), current, metav1.UpdateOptions{})
		expectCauses(t, err, map[string]string{
			"status.conditions[0].status":                  `Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"`,
			"status.observedCustomResources[0].version":    "Required value",
			"status.observedCustomResources[0].generation": "Invalid value: -1: must be greater than or equal to 0",
		})
	})
}

// Entries about custom resources have the keys group, version and kind: an apply request replaces
// the entries of its manager and keeps those of others.
func TestObservedCustomResourcesAreApplied(t *testing.T) {
	t.Parallel()
	eachPolicy(t, func(t *testing.T, version, resource string) {
		client := raw(t, admin, version, resource)
		spec := policy(rules[resource][0])
		created := create(t, client, object(t, version, resource, testserver.UniqueName("observed"), spec))
		name := created.GetName()
		apply := func(manager, resources string) (*unstructured.Unstructured, error) {
			sent := object(t, version, resource, name, "")
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
			got := testserver.Must(apply(step.manager, step.resources))(t)
			want := parse(t, "{resources: ["+step.want+"]}")["resources"]
			if diff := cmp.Diff(want, statusOf(t, got)["observedCustomResources"]); diff != "" {
				t.Fatalf("after %s applied %s (-want +got):\n%s", step.manager, step.resources, diff)
			}
			if diff := cmp.Diff(specOf(t, created), specOf(t, got)); diff != "" {
				t.Errorf("spec after %s applied a status (-want +got):\n%s", step.manager, diff)
			}
		}
		if _, err := apply("second", limit); !apierrors.IsConflict(err) {
			t.Errorf("another generation of what the first observed: got error %v, want a conflict", err)
		}
		if _, err := apply("second", limit+", "+limit); err == nil {
			t.Error("the same custom resource twice: got no error")
		}

		// A request that applies a spec does not change the status.
		sent := object(t, version, resource, name, spec)
		sent.Object["status"] = parse(t, `{observedGeneration: 9, observedCustomResources: []}`)
		got := testserver.Must(client.Apply(t.Context(), name, sent, metav1.ApplyOptions{FieldManager: "author", Force: true}))(t)
		want := parse(t, "{resources: ["+newer+", "+foreign+"]}")["resources"]
		if diff := cmp.Diff(want, statusOf(t, got)["observedCustomResources"]); diff != "" || statusOf(t, got)["observedGeneration"] == 9.0 {
			t.Errorf("after the spec was applied (-want +got):\n%s\n%v", diff, statusOf(t, got))
		}
	})
}

// A status write does not restore a deleted policy.
func TestStatusOfMissingPolicy(t *testing.T) {
	t.Parallel()
	eachPolicy(t, func(t *testing.T, version, resource string) {
		client := raw(t, admin, version, resource)
		missing := object(t, version, resource, testserver.UniqueName("missing"), policy(rules[resource][0]))
		missing.Object["status"] = parse(t, someStatus)
		name := missing.GetName()
		for write, try := range map[string]func() error{
			"get": func() error {
				_, err := client.Get(t.Context(), name, metav1.GetOptions{}, "status")
				return err
			},
			"update": func() error {
				sent := missing.DeepCopy()
				sent.SetResourceVersion("1")
				_, err := client.UpdateStatus(t.Context(), sent, metav1.UpdateOptions{})
				return err
			},
			"patch": func() error {
				_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status": {"observedGeneration": 1}}`), metav1.PatchOptions{}, "status")
				return err
			},
			"apply": func() error {
				_, err := client.ApplyStatus(t.Context(), name, missing, metav1.ApplyOptions{FieldManager: "checker"})
				return err
			},
		} {
			if err := try(); !apierrors.IsNotFound(err) {
				t.Errorf("%s: got error %v, want not found", write, err)
			}
		}
	})
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiserver/pkg/features"
)

func switchConditions(t *testing.T, on bool) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionWebhookMatchConditions, on)
}

// TestConditionsByGate writes match conditions with each verb and patch type, with the gate off and
// on.
func TestConditionsByGate(t *testing.T) {
	const (
		without, first = "matchConditions: []", `matchConditions: [{name: first, expression: "true"}]`
		second         = `matchConditions: [{name: second, expression: "!false"}]`
	)
	firstOnly, both := []string{"a.example.com first: true"}, []string{"a.example.com first: true", "a.example.com second: !false"}
	secondOnly := []string{"a.example.com second: !false"}
	s := newWebhookServer(t)

	type write func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) (*unstructured.Unstructured, error)
	patch := func(patchType types.PatchType, text string) write {
		return func(ctx context.Context, client dynamic.ResourceInterface, sent *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return client.Patch(ctx, sent.GetName(), patchType, []byte(text), metav1.PatchOptions{})
		}
	}
	update := func(ctx context.Context, client dynamic.ResourceInterface, sent *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		stored, err := client.Get(ctx, sent.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		sent.SetResourceVersion(stored.GetResourceVersion())
		return client.Update(ctx, sent, metav1.UpdateOptions{})
	}
	create := func(ctx context.Context, client dynamic.ResourceInterface, sent *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return client.Create(ctx, sent, metav1.CreateOptions{})
	}
	apply := func(ctx context.Context, client dynamic.ResourceInterface, sent *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return client.Apply(ctx, sent.GetName(), sent, metav1.ApplyOptions{FieldManager: "author", Force: true})
	}

	for _, tc := range []struct {
		name  string
		write write
		// stored is the YAML of the webhook that is stored before the write; empty means none.
		stored          string
		wantOff, wantOn []string
	}{
		{"create", create, "", nil, secondOnly},
		{"apply to nothing", apply, "", nil, secondOnly},
		{"update", update, without, nil, secondOnly},
		{"update of some", update, first, secondOnly, secondOnly},
		{"apply", apply, without, nil, secondOnly},
		{"apply to some", apply, first, both, both},
		{"JSON patch", patch(types.JSONPatchType, `[{"op": "add", "path": "/webhooks/0/matchConditions", "value": [{"name": "second", "expression": "!false"}]}]`), without, nil, secondOnly},
		{"JSON patch of some", patch(types.JSONPatchType, `[{"op": "replace", "path": "/webhooks/0/matchConditions/0/name", "value": "second"}]`), first, []string{"a.example.com second: true"}, []string{"a.example.com second: true"}},
		{"strategic merge patch", patch(types.StrategicMergePatchType, `{"webhooks": [{"name": "a.example.com", "matchConditions": [{"name": "second", "expression": "!false"}]}]}`), without, nil, secondOnly},
		{"strategic merge patch of some", patch(types.StrategicMergePatchType, `{"webhooks": [{"name": "a.example.com", "matchConditions": [{"name": "second", "expression": "!false"}]}]}`), first, both, both},
		{"merge patch of something else", patch(types.MergePatchType, `{"metadata": {"labels": {"team": "blue"}}}`), first, firstOnly, firstOnly},
		{"strategic merge patch that removes", patch(types.StrategicMergePatchType, `{"webhooks": [{"name": "a.example.com", "matchConditions": null}]}`), first, nil, nil},
	} {
		for resource := range webhookKinds {
			for on, want := range map[bool][]string{false: tc.wantOff, true: tc.wantOn} {
				t.Run(fmt.Sprintf("%s, %s, gate on: %v", tc.name, resource, on), func(t *testing.T) {
					const name = "demo"
					if tc.stored != "" {
						switchConditions(t, true)
						s.create(t, resource, name, webhook("a", tc.stored))
					}
					t.Cleanup(func() { s.remove(t, resource, name) })
					switchConditions(t, on)
					answer, err := tc.write(t.Context(), s.resource(resource), configuration(t, resource, name, webhook("a", second)))
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, conditions(t, answer)); diff != "" {
						t.Errorf("answer (-want +got):\n%s", diff)
					}
					stored, err := s.resource(resource).Get(t.Context(), name, metav1.GetOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, conditions(t, stored)); diff != "" {
						t.Errorf("stored (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// TestConditionsOutliveTheirGate updates one configuration while the gate is off and when it is on
// again. Stored conditions stay; removed conditions can only be added again with the gate on.
func TestConditionsOutliveTheirGate(t *testing.T) {
	const condition = `matchConditions: [{name: first, expression: "true"}]`
	want := []string{"a.example.com first: true"}
	s := newWebhookServer(t)
	for resource := range webhookKinds {
		t.Run(resource, func(t *testing.T) {
			const name = "demo"
			written := func(fields string) []string {
				t.Helper()
				stored, err := s.resource(resource).Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				sent := configuration(t, resource, name, webhook("a", fields))
				sent.SetResourceVersion(stored.GetResourceVersion())
				updated, err := s.resource(resource).Update(t.Context(), sent, metav1.UpdateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return conditions(t, updated)
			}
			switchConditions(t, true)
			s.create(t, resource, name, webhook("a", condition))
			for _, step := range []struct {
				name, fields string
				on           bool
				want         []string
			}{
				{"off", condition + "\n  failurePolicy: Ignore", false, want},
				{"on again", condition + "\n  failurePolicy: Fail", true, want},
				{"off, taken away", "failurePolicy: Fail", false, nil},
				{"off, put back", condition, false, nil},
				{"on again, put back", condition, true, want},
			} {
				t.Run(step.name, func(t *testing.T) {
					switchConditions(t, step.on)
					if diff := cmp.Diff(step.want, written(step.fields)); diff != "" {
						t.Errorf("conditions (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// TestApplyAgain applies the same conditions while the gate is off and when it is on. The second
// request stores them.
func TestApplyAgain(t *testing.T) {
	s := newWebhookServer(t)
	for resource := range webhookKinds {
		for _, step := range []struct {
			on   bool
			want []string
		}{
			{false, nil},
			{true, []string{"a.example.com first: true"}},
		} {
			t.Run(fmt.Sprintf("%s, gate on: %v", resource, step.on), func(t *testing.T) {
				switchConditions(t, step.on)
				sent := configuration(t, resource, "demo", webhook("a", `matchConditions: [{name: first, expression: "true"}]`))
				applied, err := s.resource(resource).Apply(t.Context(), "demo", sent, metav1.ApplyOptions{FieldManager: "author"})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(step.want, conditions(t, applied)); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
			})
		}
	}
}

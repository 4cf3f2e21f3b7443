// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// JSON of metadata.
const (
	fresh    = `{"name": "demo"}`
	stored   = `{"name": "demo", "uid": "7", "resourceVersion": "1", "generation": 7}`
	labelled = `{"name": "demo", "uid": "7", "resourceVersion": "1", "generation": 9, "labels": {"team": "blue"}}`
)

// JSON of statuses.
const (
	observedAt7 = `{"observedGeneration": 7, "observedCustomResources": [{"group": "rules.example.com", "version": "v1", "kind": "Limit", "generation": 3}]}`
	observedAt1 = `{"observedGeneration": 1}`
	broken      = `{"conditions": [{"type": "Ready", "status": "Perhaps", "reason": "Unsure", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
		"observedCustomResources": [{"group": "rules.example.com", "version": "v1", "kind": "Limit", "generation": -1}]}`
)

// policy decodes a policy as a request contains it from JSON of its parts.
func (k policyKind) policy(t *testing.T, metadata, rules, status string) policy.APIObject {
	t.Helper()
	spec := parse(t, rules)
	spec["matchConstraints"] = parse(t, `{"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]}`)
	text, err := json.Marshal(map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(), "kind": k.name, "metadata": parse(t, metadata), "spec": spec, "status": parse(t, status),
	})
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := runtime.Decode(scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded.(policy.APIObject)
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	content := map[string]any{}
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return content
}

// content returns the metadata, the spec and the status of a policy as clients receive them.
func content(t *testing.T, policy runtime.Object) map[string]any {
	t.Helper()
	text, err := runtime.Encode(scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), policy)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

// with adds fields to rules; both are JSON.
func with(rules, fields string) string {
	return rules[:len(rules)-1] + ", " + fields[1:]
}

// A write of the status changes nothing else, whatever the request contains, and does not validate
// the rest of the policy, its types included.
func TestStatusWrites(t *testing.T) {
	for _, k := range policyKinds {
		enforced := with(k.rules, `{"typeChecking": "Enforced"}`)
		for name, tc := range map[string]struct {
			gateOff                      bool
			storedRules, metadata, rules string
		}{
			"status alone":               {storedRules: k.rules, metadata: stored, rules: k.rules},
			"everything":                 {storedRules: k.rules, metadata: labelled, rules: with(k.otherRules, `{"typeChecking": "Enforced", "failurePolicy": "Ignore"}`)},
			"stored type errors":         {storedRules: enforced, metadata: stored, rules: enforced},
			"field of a gate, on":        {storedRules: enforced, metadata: stored, rules: k.rules},
			"field of a gate, off":       {gateOff: true, storedRules: enforced, metadata: stored, rules: k.rules},
			"field of a gate that is on": {storedRules: k.rules, metadata: stored, rules: enforced},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, !tc.gateOff)
				sent := k.policy(t, tc.metadata, tc.rules, observedAt7)
				if err := rest.BeforeUpdate(k.status, cluster(), sent, k.policy(t, stored, tc.storedRules, `{}`)); err != nil {
					t.Fatal(err)
				}
				want := content(t, k.policy(t, stored, tc.storedRules, observedAt7))
				if diff := cmp.Diff(want, content(t, sent)); diff != "" {
					t.Errorf("policy (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// The tests of the validation package cover what makes a status invalid.
func TestStatusErrors(t *testing.T) {
	for _, k := range policyKinds {
		t.Run(k.name, func(t *testing.T) {
			err := rest.BeforeUpdate(k.status, cluster(), k.policy(t, stored, k.rules, broken), k.policy(t, stored, k.rules, `{}`))
			expectCauses(t, err, "status.conditions[0].status", "status.observedCustomResources[0].generation")
		})
	}
}

func TestResetFields(t *testing.T) {
	for _, k := range policyKinds {
		for name, tc := range map[string]struct {
			strategy rest.ResetFieldsStrategy
			want     *fieldpath.Set
		}{
			"resource": {k.strategy, fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
			"status":   {k.status, fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				got := tc.strategy.GetResetFields()
				if len(got) != 3 {
					t.Errorf("got %d versions, want 3", len(got))
				}
				for _, version := range []fieldpath.APIVersion{"admissionregistration.k8s.io/v1", "admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1alpha1"} {
					if set := got[version]; set == nil || !set.Equals(tc.want) {
						t.Errorf("%s: got %v, want %v", version, set, tc.want)
					}
				}
			})
		}
	}
	for _, k := range bindingKinds {
		if got := k.strategy.GetResetFields(); len(got) != 0 {
			t.Errorf("%s: got %v, want none", k.name, got)
		}
	}
}

// A write of the spec keeps the status, and a write of the status keeps the spec.
func TestSpecAndStatusAreApart(t *testing.T) {
	for _, k := range policyKinds {
		t.Run(k.name, func(t *testing.T) {
			resource, status := k.store(t)
			update := func(to rest.Updater, policy runtime.Object) (runtime.Object, error) {
				const create = true // as server-side apply has it
				updated, _, err := to.Update(cluster(), "demo", rest.DefaultUpdatedObjectInfo(policy), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, create, &metav1.UpdateOptions{})
				return updated, err
			}
			if _, err := update(status, k.policy(t, fresh, k.rules, observedAt7)); !apierrors.IsNotFound(err) {
				t.Errorf("status of no policy: got error %v, want not found", err)
			}
			if _, err := status.Get(cluster(), "demo", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("reading the status of no policy: got error %v, want not found", err)
			}
			current, err := resource.Create(cluster(), k.policy(t, fresh, k.rules, observedAt7), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			expect := func(step string, generation int64, rules, status string) {
				t.Helper()
				want, got := content(t, k.policy(t, `{}`, rules, status)), content(t, current)
				for _, part := range []string{"spec", "status"} {
					if diff := cmp.Diff(want[part], got[part]); diff != "" {
						t.Errorf("%s after %s (-want +got):\n%s", part, step, diff)
					}
				}
				if got := current.(policy.APIObject).GetGeneration(); got != generation {
					t.Errorf("after %s: generation %d, want %d", step, got, generation)
				}
			}
			expect("creation", 1, k.rules, `{}`)

			for _, step := range []struct {
				name                 string
				to                   rest.Updater
				rules, status        string
				wantGeneration       int64
				wantRules, wantState string
			}{
				{"a status write", status, k.otherRules, observedAt7, 1, k.rules, observedAt7},
				{"a spec write", resource, k.otherRules, observedAt1, 2, k.otherRules, observedAt7},
				{"another status write", status, k.rules, observedAt1, 2, k.otherRules, observedAt1},
			} {
				sent, meta := k.policy(t, fresh, step.rules, step.status), current.(policy.APIObject)
				sent.SetUID(meta.GetUID())
				sent.SetResourceVersion(meta.GetResourceVersion())
				if current, err = update(step.to, sent); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				expect(step.name, step.wantGeneration, step.wantRules, step.wantState)
				for _, from := range []rest.Getter{resource, status} {
					stored, err := from.Get(cluster(), "demo", &metav1.GetOptions{})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(current, stored); diff != "" {
						t.Errorf("stored by %s (-answered +stored):\n%s", step.name, diff)
					}
				}
			}
		})
	}
}

// The subresource has the type and the table of the resource. It can be neither listed nor deleted,
// and its end does not end the resource.
func TestSubresource(t *testing.T) {
	for _, k := range policyKinds {
		t.Run(k.name, func(t *testing.T) {
			resource, status := k.store(t)
			if diff := cmp.Diff(resource.New(), status.New()); diff != "" {
				t.Errorf("new object (-resource +status):\n%s", diff)
			}
			table := func(of rest.TableConvertor) *metav1.Table {
				got, err := of.ConvertToTable(context.Background(), k.policy(t, stored, k.rules, observedAt7), &metav1.TableOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if diff := cmp.Diff(table(resource), table(status)); diff != "" || len(table(status).Rows) != 1 {
				t.Errorf("table (-resource +status):\n%s", diff)
			}
			for name, fields := range map[string]struct{ of, want rest.ResetFieldsStrategy }{"resource": {resource, k.strategy}, "status": {status, k.status}} {
				for version, want := range fields.want.GetResetFields() {
					if got := fields.of.GetResetFields()[version]; got == nil || !got.Equals(want) {
						t.Errorf("%s: writes of the %s reset %v, want %v", version, name, got, want)
					}
				}
			}
			if _, deletes := any(status).(rest.GracefulDeleter); deletes {
				t.Error("the status can be deleted")
			}
			if _, lists := any(status).(rest.Lister); lists {
				t.Error("statuses can be listed")
			}
			status.Destroy()
			if _, err := resource.Create(cluster(), k.policy(t, fresh, k.rules, `{}`), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); err != nil {
				t.Errorf("create after Destroy of the subresource: %v", err)
			}
		})
	}
}

func TestAvailableColumn(t *testing.T) {
	condition := func(name, status string) string {
		return `{"type": "` + name + `", "status": "` + status + `", "reason": "Some", "message": "", "lastTransitionTime": null}`
	}
	checked := condition("TypeChecked", "True")
	for _, k := range policyKinds {
		resource, _ := k.store(t)
		for name, tc := range map[string]struct{ conditions, want, typeChecked string }{
			"no condition":      {want: "<unknown>", typeChecked: "<unknown>"},
			"another condition": {checked, "<unknown>", "True"},
			"available":         {checked + ", " + condition("Available", "True"), "True", "True"},
			"not available":     {condition("Available", "False") + ", " + checked, "False", "True"},
			"undecided":         {condition("Available", "Unknown"), "Unknown", "<unknown>"},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				table, err := resource.ConvertToTable(t.Context(), k.policy(t, stored, k.rules, `{"conditions": [`+tc.conditions+`]}`), nil)
				if err != nil {
					t.Fatal(err)
				}
				for column, want := range map[string]string{"Available": tc.want, "TypeChecked": tc.typeChecked} {
					if i := columnNamed(table, column); i == -1 {
						t.Errorf("column %s is missing: %v", column, table.ColumnDefinitions)
					} else if got := table.Rows[0].Cells[i]; got != want {
						t.Errorf("%s: got %v, want %s", column, got, want)
					}
				}
			})
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/celador/pkg/features"
)

const (
	stored   = `{"name": "demo", "uid": "7", "resourceVersion": "1", "generation": 7}`
	labelled = `{"name": "demo", "uid": "7", "resourceVersion": "1", "generation": 9, "labels": {"team": "blue"}}`

	observed = `{"observedGeneration": 7, "observedCustomResources": [{"group": "rules.example.com", "version": "v1", "kind": "Limit", "generation": 3}]}`
	broken   = `{"conditions": [{"type": "Ready", "status": "Perhaps", "reason": "Unsure", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
		"observedCustomResources": [{"group": "rules.example.com", "version": "v1", "kind": "Limit", "generation": -1}]}`
)

func cluster() context.Context { return request.WithNamespace(context.Background(), "") }

// A write changes the status and nothing else, whatever it has, and nobody asks about the
// rest: not even about type errors.
func TestStatusWrites(t *testing.T) {
	for _, k := range kinds {
		enforced := with(k.rules, `{"typeChecking": "Enforced"}`)
		for name, tc := range map[string]struct {
			gateOff                      bool
			storedRules, metadata, rules string
		}{
			"status alone":               {storedRules: k.rules, metadata: stored, rules: k.rules},
			"everything":                 {storedRules: k.rules, metadata: labelled, rules: with(k.others, `{"typeChecking": "Enforced", "failurePolicy": "Ignore"}`)},
			"stored type errors":         {storedRules: enforced, metadata: stored, rules: enforced},
			"field of a gate, on":        {storedRules: enforced, metadata: stored, rules: k.rules},
			"field of a gate, off":       {gateOff: true, storedRules: enforced, metadata: stored, rules: k.rules},
			"field of a gate that is on": {storedRules: k.rules, metadata: stored, rules: enforced},
		} {
			t.Run(k.name+", "+name, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.AdmissionPolicyTypeEnforcement, !tc.gateOff)
				sent := k.policy(t, tc.metadata, tc.rules, observed)
				if err := rest.BeforeUpdate(k.status, cluster(), sent, k.policy(t, stored, tc.storedRules, `{}`)); err != nil {
					t.Fatal(err)
				}
				want := content(t, k.policy(t, stored, tc.storedRules, observed))
				if diff := cmp.Diff(want, content(t, sent)); diff != "" {
					t.Errorf("policy (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// with returns rules with more fields; both are JSON.
func with(rules, fields string) string {
	return rules[:len(rules)-1] + ", " + fields[1:]
}

// What the validation package refuses in detail is tested there.
func TestRefusals(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			err := rest.BeforeUpdate(k.status, cluster(), k.policy(t, stored, k.rules, broken), k.policy(t, stored, k.rules, `{}`))
			var status apierrors.APIStatus
			if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
				t.Fatalf("got %v, want an invalid error", err)
			}
			var got []string
			for _, cause := range status.Status().Details.Causes {
				got = append(got, cause.Field)
			}
			want := []string{"status.conditions[0].status", "status.observedCustomResources[0].generation"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("fields with errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResetFields(t *testing.T) {
	for _, k := range kinds {
		for name, tc := range map[string]struct {
			strategy rest.ResetFieldsStrategy
			want     *fieldpath.Set
		}{
			"resource": {k.resource, fieldpath.NewSet(fieldpath.MakePathOrDie("status"))},
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
}

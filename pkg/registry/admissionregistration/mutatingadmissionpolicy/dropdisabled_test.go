// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
)

func typeChecking(mode v1.TypeCheckingMode) func(*admissionregistration.MutatingAdmissionPolicy) {
	return func(policy *admissionregistration.MutatingAdmissionPolicy) { policy.Spec.TypeChecking = new(mode) }
}

func mutations(all ...v1.Mutation) func(*admissionregistration.MutatingAdmissionPolicy) {
	return func(policy *admissionregistration.MutatingAdmissionPolicy) { policy.Spec.Mutations = all }
}

// A field of a gate that is off gets into no object that does not have one, and is
// lost from none that has.
func TestFieldsOfGate(t *testing.T) {
	plain := patch("[JSONPatch{}]")
	for name, set := range map[string]func(*v1.Mutation){
		"condition":          func(m *v1.Mutation) { m.Condition = new("object.spec.replicas > 5") },
		"message":            func(m *v1.Mutation) { m.Message = new("too many") },
		"reason":             func(m *v1.Mutation) { m.Reason = new(metav1.StatusReasonForbidden) },
		"reinvocationPolicy": func(m *v1.Mutation) { m.ReinvocationPolicy = new(v1.IfNeededReinvocationPolicy) },
		"expression":         func(m *v1.Mutation) { *m = v1.Mutation{Expression: new("null")} },
		"jsonMergePatch": func(m *v1.Mutation) {
			*m = v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}}
		},
		"strategicMergePatch": func(m *v1.Mutation) {
			*m = v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "{}"}}
		},
	} {
		own := plain
		set(&own)
		// dropped is what is left without the field; some are no mutation then.
		dropped, wantFields := plain, []string(nil)
		if own.JSONPatch == nil {
			dropped, wantFields = v1.Mutation{PatchType: own.PatchType}, []string{"spec.mutations[0].patchType"}
		}
		type policy = *admissionregistration.MutatingAdmissionPolicy
		for step, tc := range map[string]struct {
			on                 bool
			stored, sent, want policy // without a stored one it is a create
			wantFields         []string
			wantGeneration     int64
		}{
			"off: create":             {sent: demo(mutations(own)), want: demo(mutations(dropped)), wantFields: wantFields, wantGeneration: 1},
			"off: update":             {stored: demo(mutations(plain)), sent: demo(mutations(own)), want: demo(mutations(dropped)), wantFields: wantFields, wantGeneration: 7},
			"off: stored, kept":       {stored: demo(mutations(plain, own)), sent: demo(mutations(plain, own), label), want: demo(mutations(plain, own)), wantGeneration: 7},
			"off: stored, moved":      {stored: demo(mutations(plain, own)), sent: demo(mutations(own, plain)), want: demo(mutations(own, plain)), wantGeneration: 8},
			"off: stored, taken away": {stored: demo(mutations(own)), sent: demo(mutations(plain)), want: demo(mutations(plain)), wantGeneration: 8},
			"on: create":              {on: true, sent: demo(mutations(own)), want: demo(mutations(own)), wantGeneration: 1},
			"on: update":              {on: true, stored: demo(mutations(plain)), sent: demo(mutations(own)), want: demo(mutations(own)), wantGeneration: 8},
			"on again: stored, kept":  {on: true, stored: demo(mutations(own)), sent: demo(mutations(own), label), want: demo(mutations(own)), wantGeneration: 7},
		} {
			t.Run(name+", "+step, func(t *testing.T) {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.MutatingAdmissionPolicyInlineExpressions, tc.on)
				var err error
				if tc.stored == nil {
					err = rest.BeforeCreate(strategy(), byAlice(), tc.sent)
				} else {
					err = rest.BeforeUpdate(strategy(), byAlice(), tc.sent, tc.stored)
				}
				expectCauses(t, err, tc.wantFields...)
				if diff := cmp.Diff(tc.want.Spec, tc.sent.Spec); diff != "" {
					t.Errorf("spec (-want +got):\n%s", diff)
				}
				if err == nil && tc.sent.Generation != tc.wantGeneration {
					t.Errorf("got generation %d, want %d", tc.sent.Generation, tc.wantGeneration)
				}
			})
		}
	}
}

// Each gate decides over its own fields, whatever the other one does.
func TestTypeCheckingOfGate(t *testing.T) {
	const (
		types  = features.AdmissionPolicyTypeEnforcement
		inline = features.MutatingAdmissionPolicyInlineExpressions
	)
	enforced, informational := typeChecking(v1.EnforcedTypeChecking), typeChecking(v1.InformationalTypeChecking)
	own, plain := mutations(v1.Mutation{Expression: new("null")}), patch("[JSONPatch{}]")
	plain.Condition = new("true")
	conditional := mutations(plain)
	type policy = *admissionregistration.MutatingAdmissionPolicy
	for name, tc := range map[string]struct {
		on                 featuregate.Feature
		stored, sent, want policy // without a stored one it is a create
		wantFields         []string
		wantGeneration     int64
	}{
		"off: create":              {sent: demo(enforced), want: demo(), wantGeneration: 1},
		"off: create with default": {sent: demo(informational), want: demo(), wantGeneration: 1},
		"off: update":              {stored: demo(), sent: demo(enforced), want: demo(), wantGeneration: 7},
		"off: stored, kept":        {stored: demo(enforced), sent: demo(enforced, label), want: demo(enforced), wantGeneration: 7},
		"off: stored, changed":     {stored: demo(enforced), sent: demo(informational), want: demo(informational), wantGeneration: 8},
		"off: stored, taken away":  {stored: demo(enforced), sent: demo(), want: demo(), wantGeneration: 8},
		"off: stored, mistaken":    {stored: demo(enforced), sent: demo(typeChecking("Strict")), want: demo(typeChecking("Strict")), wantFields: []string{"spec.typeChecking"}},
		"off: mistaken":            {sent: demo(typeChecking("Strict")), want: demo(), wantGeneration: 1},
		"on: create":               {on: types, sent: demo(enforced), want: demo(enforced), wantGeneration: 1},
		"on: create without":       {on: types, sent: demo(), want: demo(), wantGeneration: 1},
		"on: update":               {on: types, stored: demo(), sent: demo(enforced), want: demo(enforced), wantGeneration: 8},
		"on: mistaken":             {on: types, sent: demo(typeChecking("Strict")), want: demo(typeChecking("Strict")), wantFields: []string{"spec.typeChecking"}},
		"on again: stored, kept":   {on: types, stored: demo(enforced), sent: demo(enforced, label), want: demo(enforced), wantGeneration: 7},

		"other gate on: create":                {on: inline, sent: demo(enforced, own), want: demo(own), wantGeneration: 1},
		"other gate off: create":               {on: types, sent: demo(enforced, conditional), want: demo(enforced, mutations(patch("[JSONPatch{}]"))), wantGeneration: 1},
		"off: stored field of the other gate":  {stored: demo(own), sent: demo(own, enforced), want: demo(own), wantGeneration: 7},
		"off: field of the other gate, stored": {stored: demo(enforced), sent: demo(enforced, conditional), want: demo(enforced, mutations(patch("[JSONPatch{}]"))), wantGeneration: 8},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.on != "" {
				featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, tc.on, true)
			}
			var err error
			if tc.stored == nil {
				err = rest.BeforeCreate(strategy(), byAlice(), tc.sent)
			} else {
				err = rest.BeforeUpdate(strategy(), byAlice(), tc.sent, tc.stored)
			}
			expectCauses(t, err, tc.wantFields...)
			if diff := cmp.Diff(tc.want.Spec, tc.sent.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if err == nil && tc.sent.Generation != tc.wantGeneration {
				t.Errorf("got generation %d, want %d", tc.sent.Generation, tc.wantGeneration)
			}
		})
	}
}

// Validation sees what is left after fields were dropped, and knows the patch types of
// the gate only where that allows them.
func TestValidationOfFieldsOfGate(t *testing.T) {
	merge := v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}}
	strategic := v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "{}"}}
	invalid := patch("[JSONPatch{}]")
	invalid.Condition = new("1")
	for name, tc := range map[string]struct {
		on           bool
		stored, sent *admissionregistration.MutatingAdmissionPolicy
		wantFields   []string
	}{
		"off: invalid field":                     {sent: demo(mutations(invalid))},
		"off: invalid field where one is stored": {stored: demo(mutations(merge)), sent: demo(mutations(invalid)), wantFields: []string{"spec.mutations[0].condition"}},
		"off: another type where one is stored":  {stored: demo(mutations(merge)), sent: demo(mutations(strategic))},
		"off: type without its field":            {sent: demo(mutations(v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch})), wantFields: []string{"spec.mutations[0].patchType"}},
		"on: type without its field":             {on: true, sent: demo(mutations(v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch})), wantFields: []string{"spec.mutations[0].jsonMergePatch"}},
		"on: invalid field":                      {on: true, sent: demo(mutations(invalid)), wantFields: []string{"spec.mutations[0].condition"}},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.MutatingAdmissionPolicyInlineExpressions, tc.on)
			var err error
			if tc.stored == nil {
				err = rest.BeforeCreate(strategy(), byAlice(), tc.sent)
			} else {
				err = rest.BeforeUpdate(strategy(), byAlice(), tc.sent, tc.stored)
			}
			expectCauses(t, err, tc.wantFields...)
		})
	}
}

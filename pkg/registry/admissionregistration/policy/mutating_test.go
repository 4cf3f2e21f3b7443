// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

const inlineExpressions = features.MutatingAdmissionPolicyInlineExpressions

// While the gate of a field is off, no write adds the field to an object that does not have it, and
// no write loses a stored one.
func TestFieldsOfMutatingGate(t *testing.T) {
	plain := patch("[JSONPatch{}]")
	demo := func(all ...v1.Mutation) policy.APIObject { return mutating(mutations(all...)) }
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
		// Without the field, some mutations are invalid.
		dropped, wantFields := plain, []string(nil)
		if own.JSONPatch == nil {
			dropped, wantFields = v1.Mutation{PatchType: own.PatchType}, []string{"spec.mutations[0].patchType"}
		}
		labelled := func(all ...v1.Mutation) policy.APIObject { return mutating(mutations(all...), label) }
		for step, tc := range map[string]gateCase{
			"off: create":             {sent: demo(own), want: demo(dropped), wantFields: wantFields, wantGeneration: 1},
			"off: update":             {stored: demo(plain), sent: demo(own), want: demo(dropped), wantFields: wantFields, wantGeneration: 7},
			"off: stored, kept":       {stored: demo(plain, own), sent: labelled(plain, own), want: demo(plain, own), wantGeneration: 7},
			"off: stored, moved":      {stored: demo(plain, own), sent: demo(own, plain), want: demo(own, plain), wantGeneration: 8},
			"off: stored, taken away": {stored: demo(own), sent: demo(plain), want: demo(plain), wantGeneration: 8},
			"on: create":              {on: inlineExpressions, sent: demo(own), want: demo(own), wantGeneration: 1},
			"on: update":              {on: inlineExpressions, stored: demo(plain), sent: demo(own), want: demo(own), wantGeneration: 8},
			"on again: stored, kept":  {on: inlineExpressions, stored: demo(own), sent: labelled(own), want: demo(own), wantGeneration: 7},
		} {
			t.Run(name+", "+step, func(t *testing.T) { tc.run(t, policyKinds[1].strategy) })
		}
	}
}

func TestMutatingSingletonOfGate(t *testing.T) {
	const on = features.MutatingAdmissionPolicySingleton
	other, demo := policyKinds[1].other, policyKinds[1].demo
	for name, tc := range map[string]gateCase{
		"off: create":                {sent: demo(singleton), want: demo(), wantGeneration: 1},
		"off: update":                {stored: demo(), sent: demo(singleton), want: demo(), wantGeneration: 7},
		"off: stored, kept":          {stored: demo(singleton), sent: demo(singleton, other), want: demo(singleton, other), wantGeneration: 8},
		"off: stored, taken away":    {stored: demo(singleton), sent: demo(), want: demo(), wantGeneration: 8},
		"gate of other kind: create": {on: features.ValidatingAdmissionPolicySingleton, sent: demo(singleton), want: demo(), wantGeneration: 1},
		"on: create":                 {on: on, sent: demo(singleton), want: demo(singleton), wantGeneration: 1},
		"on: create with params":     {on: on, sent: demo(singleton, params("ConfigMap")), want: demo(singleton, params("ConfigMap")), wantFields: []string{"spec.paramKind"}},
		"on: update":                 {on: on, stored: demo(), sent: demo(singleton), want: demo(singleton), wantGeneration: 8},
		"on again: stored, kept":     {on: on, stored: demo(singleton), sent: demo(singleton, label), want: demo(singleton, label), wantGeneration: 7},
	} {
		t.Run(name, func(t *testing.T) { tc.run(t, policyKinds[1].strategy) })
	}
}

// A gate that is off drops its own fields, whether the other gate is on or off.
func TestMutatingGatesAreIndependent(t *testing.T) {
	const types = features.AdmissionPolicyTypeEnforcement
	enforced, inline := typeChecking(v1.EnforcedTypeChecking), mutations(v1.Mutation{Expression: new("null")})
	plain := patch("[JSONPatch{}]")
	conditional := plain
	conditional.Condition = new("true")
	demo := policyKinds[1].demo
	for name, tc := range map[string]gateCase{
		"other gate on: create":                {on: inlineExpressions, sent: demo(enforced, inline), want: demo(inline), wantGeneration: 1},
		"other gate off: create":               {on: types, sent: demo(enforced, mutations(conditional)), want: demo(enforced, mutations(plain)), wantGeneration: 1},
		"off: stored field of the other gate":  {stored: demo(inline), sent: demo(inline, enforced), want: demo(inline), wantGeneration: 7},
		"lookups off: create":                  {on: types, sent: demo(enforced, lookup("services", "Service")), want: demo(enforced), wantGeneration: 1},
		"lookups on: create":                   {on: features.AdmissionPolicyLookups, sent: demo(enforced, lookup("services", "Service")), want: demo(lookup("services", "Service")), wantGeneration: 1},
		"off: field of the other gate, stored": {stored: demo(enforced), sent: demo(enforced, mutations(conditional)), want: demo(enforced, mutations(plain)), wantGeneration: 8},
	} {
		t.Run(name, func(t *testing.T) { tc.run(t, policyKinds[1].strategy) })
	}
}

// Dropped fields are not validated. The patch types of the gate are valid only where the gate
// allows their fields.
func TestValidationOfMutations(t *testing.T) {
	merge := v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}}
	strategic := v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "{}"}}
	typeOnly, invalid := v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch}, patch("[JSONPatch{}]")
	invalid.Condition = new("1")
	demo := func(m v1.Mutation) policy.APIObject { return mutating(mutations(m)) }
	for name, tc := range map[string]struct {
		on           bool
		stored, sent policy.APIObject // a create if stored is nil
		wantFields   []string
	}{
		"off: invalid field":                     {sent: demo(invalid)},
		"off: invalid field where one is stored": {stored: demo(merge), sent: demo(invalid), wantFields: []string{"spec.mutations[0].condition"}},
		"off: another type where one is stored":  {stored: demo(merge), sent: demo(strategic)},
		"off: type without its field":            {sent: demo(typeOnly), wantFields: []string{"spec.mutations[0].patchType"}},
		"on: type without its field":             {on: true, sent: demo(typeOnly), wantFields: []string{"spec.mutations[0].jsonMergePatch"}},
		"on: invalid field":                      {on: true, sent: demo(invalid), wantFields: []string{"spec.mutations[0].condition"}},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, inlineExpressions, tc.on)
			expectCauses(t, write(policyKinds[1].strategy, tc.stored, tc.sent), tc.wantFields...)
		})
	}
}

// Types are checked if a policy is new or if the update changes what type errors depend on.
func TestTypeErrorsOfMutating(t *testing.T) {
	enforced, demo := typeChecking(v1.EnforcedTypeChecking), policyKinds[1].demo
	edit := func(edit func(*v1.Mutation)) change {
		return func(obj policy.APIObject) {
			edit(&obj.(*admissionregistration.MutatingAdmissionPolicy).Spec.Mutations[0])
		}
	}
	replace := func(mutation v1.Mutation) change { return edit(func(m *v1.Mutation) { *m = mutation }) }
	reinvoke := func(obj policy.APIObject) {
		obj.(*admissionregistration.MutatingAdmissionPolicy).Spec.ReinvocationPolicy = v1.IfNeededReinvocationPolicy
	}
	strategy := policy.NewStrategy(policy.Mutating, access, func(p *v1.MutatingAdmissionPolicy) field.ErrorList {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "mutations").Key(p.Name), p.Spec.Mutations, "does not fit")}
	}, nil, policy.MutatingBinding.PoliciesBoundBy(notServed))
	const found = "spec.mutations[demo]"
	for name, tc := range map[string]struct {
		off          bool
		stored, sent policy.APIObject // a create if stored is nil
		wantFields   []string
	}{
		"create":                    {sent: demo(enforced), wantFields: []string{found}},
		"create, off":               {off: true, sent: demo(enforced)},
		"create: invalid":           {sent: demo(enforced, expression("object.")), wantFields: []string{"spec.mutations[0].jsonPatch.expression"}},
		"create: unreadable params": {sent: demo(enforced, params("Secret")), wantFields: []string{"spec.paramKind", found}},

		"update: same":               {stored: demo(enforced), sent: demo(enforced)},
		"update: metadata":           {stored: demo(enforced), sent: demo(enforced, label)},
		"update: failurePolicy":      {stored: demo(enforced), sent: demo(enforced, ignoreFailures)},
		"update: reinvocationPolicy": {stored: demo(enforced), sent: demo(enforced, reinvoke)},
		"update: message":            {stored: demo(enforced), sent: demo(enforced, edit(func(m *v1.Mutation) { m.Message = new("why") }))},
		"update: reason":             {stored: demo(enforced), sent: demo(enforced, edit(func(m *v1.Mutation) { m.Reason = new(metav1.StatusReasonInvalid) }))},
		"update: reinvocationPolicy of a mutation": {
			stored: demo(enforced),
			sent:   demo(enforced, edit(func(m *v1.Mutation) { m.ReinvocationPolicy = new(v1.NeverReinvocationPolicy) })),
		},
		"update: name of condition": {stored: demo(enforced, matchCondition("a", "true")), sent: demo(enforced, matchCondition("b", "true"))},
		"update: variable":          {stored: demo(enforced), sent: demo(enforced, variable("a", "1")), wantFields: []string{found}},
		"update: match condition":   {stored: demo(enforced, matchCondition("a", "true")), sent: demo(enforced, matchCondition("a", "false")), wantFields: []string{found}},
		"update: resources":         {stored: demo(enforced), sent: demo(enforced, resources("daemonsets")), wantFields: []string{found}},
		"update: paramKind":         {stored: demo(enforced), sent: demo(enforced, params("ConfigMap")), wantFields: []string{found}},
		"update: typeChecking":      {stored: demo(), sent: demo(enforced), wantFields: []string{found}},
		"update: one mutation more": {
			stored:     demo(enforced),
			sent:       demo(enforced, mutations(mutating().Spec.Mutations[0], patch("[JSONPatch{}]"))),
			wantFields: []string{found},
		},
		"update: condition":  {stored: demo(enforced), sent: demo(enforced, edit(func(m *v1.Mutation) { m.Condition = new("true") })), wantFields: []string{found}},
		"update: expression": {stored: demo(enforced), sent: demo(enforced, replace(v1.Mutation{Expression: new("null")})), wantFields: []string{found}},
		"update: jsonPatch":  {stored: demo(enforced), sent: demo(enforced, expression("[JSONPatch{}]")), wantFields: []string{found}},
		"update: applyConfiguration": {
			stored:     demo(enforced),
			sent:       demo(enforced, replace(v1.Mutation{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: "Object{}"}})),
			wantFields: []string{found},
		},
		"update: jsonMergePatch": {
			stored:     demo(enforced),
			sent:       demo(enforced, replace(v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}})),
			wantFields: []string{found},
		},
		"update: strategicMergePatch": {
			stored:     demo(enforced),
			sent:       demo(enforced, replace(v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "{}"}})),
			wantFields: []string{found},
		},
		"update, off": {off: true, stored: demo(enforced), sent: demo(enforced, expression("[JSONPatch{}]"))},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.AdmissionPolicyTypeEnforcement: !tc.off,
				inlineExpressions:                       true,
			})
			expectCauses(t, write(strategy, tc.stored, tc.sent), tc.wantFields...)
		})
	}
}

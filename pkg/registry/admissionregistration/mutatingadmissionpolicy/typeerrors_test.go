// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
)

// misfit finds an error in every policy that it is asked about, where it is named.
func misfit(policy *v1.MutatingAdmissionPolicy) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("spec", "mutations").Key(policy.Name), policy.Spec.Mutations, "does not fit")}
}

// Types are checked when a policy is new, and when it changes in what they depend on.
func TestTypeErrors(t *testing.T) {
	type policy = *admissionregistration.MutatingAdmissionPolicy
	type change = func(policy)
	enforced := typeChecking(v1.EnforcedTypeChecking)
	mutation := func(edit func(*v1.Mutation)) change {
		return func(p policy) {
			p.Spec.Mutations = []v1.Mutation{p.Spec.Mutations[0]}
			edit(&p.Spec.Mutations[0])
		}
	}
	condition := func(name, source string) change {
		return func(p policy) { p.Spec.MatchConditions = []v1.MatchCondition{{Name: name, Expression: source}} }
	}
	const found = "spec.mutations[demo]"
	for name, tc := range map[string]struct {
		off          bool
		stored, sent policy // without a stored one it is a create
		wantFields   []string
	}{
		"create":                    {sent: demo(enforced), wantFields: []string{found}},
		"create, off":               {off: true, sent: demo(enforced)},
		"create: invalid":           {sent: demo(enforced, expression("object.")), wantFields: []string{"spec.mutations[0].jsonPatch.expression"}},
		"create: unreadable params": {sent: demo(enforced, params("Secret")), wantFields: []string{"spec.paramKind", found}},

		"update: same":               {stored: demo(enforced), sent: demo(enforced)},
		"update: metadata":           {stored: demo(enforced), sent: demo(enforced, label)},
		"update: failurePolicy":      {stored: demo(enforced), sent: demo(enforced, func(p policy) { p.Spec.FailurePolicy = new(v1.Ignore) })},
		"update: reinvocationPolicy": {stored: demo(enforced), sent: demo(enforced, func(p policy) { p.Spec.ReinvocationPolicy = v1.IfNeededReinvocationPolicy })},
		"update: message":            {stored: demo(enforced), sent: demo(enforced, mutation(func(m *v1.Mutation) { m.Message = new("why") }))},
		"update: reason":             {stored: demo(enforced), sent: demo(enforced, mutation(func(m *v1.Mutation) { m.Reason = new(metav1.StatusReasonInvalid) }))},
		"update: reinvocationPolicy of a mutation": {
			stored: demo(enforced),
			sent:   demo(enforced, mutation(func(m *v1.Mutation) { m.ReinvocationPolicy = new(v1.NeverReinvocationPolicy) })),
		},
		"update: name of condition": {stored: demo(enforced, condition("a", "true")), sent: demo(enforced, condition("b", "true"))},
		"update: variable":          {stored: demo(enforced), sent: demo(enforced, func(p policy) { p.Spec.Variables = []v1.Variable{{Name: "a", Expression: "1"}} }), wantFields: []string{found}},
		"update: match condition":   {stored: demo(enforced, condition("a", "true")), sent: demo(enforced, condition("a", "false")), wantFields: []string{found}},
		"update: resources": {
			stored:     demo(enforced),
			sent:       demo(enforced, func(p policy) { p.Spec.MatchConstraints.ResourceRules[0].Resources = []string{"daemonsets"} }),
			wantFields: []string{found},
		},
		"update: paramKind":    {stored: demo(enforced), sent: demo(enforced, params("ConfigMap")), wantFields: []string{found}},
		"update: typeChecking": {stored: demo(), sent: demo(enforced), wantFields: []string{found}},
		"update: one mutation more": {
			stored:     demo(enforced),
			sent:       demo(enforced, mutations(demo().Spec.Mutations[0], patch("[JSONPatch{}]"))),
			wantFields: []string{found},
		},
		"update: condition":  {stored: demo(enforced), sent: demo(enforced, mutation(func(m *v1.Mutation) { m.Condition = new("true") })), wantFields: []string{found}},
		"update: expression": {stored: demo(enforced), sent: demo(enforced, mutation(func(m *v1.Mutation) { *m = v1.Mutation{Expression: new("null")} })), wantFields: []string{found}},
		"update: jsonPatch":  {stored: demo(enforced), sent: demo(enforced, expression("[JSONPatch{}]")), wantFields: []string{found}},
		"update: applyConfiguration": {
			stored: demo(enforced),
			sent: demo(enforced, mutation(func(m *v1.Mutation) {
				*m = v1.Mutation{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: "Object{}"}}
			})),
			wantFields: []string{found},
		},
		"update: jsonMergePatch": {
			stored: demo(enforced),
			sent: demo(enforced, mutation(func(m *v1.Mutation) {
				*m = v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}}
			})),
			wantFields: []string{found},
		},
		"update: strategicMergePatch": {
			stored: demo(enforced),
			sent: demo(enforced, mutation(func(m *v1.Mutation) {
				*m = v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "{}"}}
			})),
			wantFields: []string{found},
		},
		"update, off": {off: true, stored: demo(enforced), sent: demo(enforced, expression("[JSONPatch{}]"))},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.AdmissionPolicyTypeEnforcement:           !tc.off,
				features.MutatingAdmissionPolicyInlineExpressions: true,
			})
			var err error
			if tc.stored == nil {
				err = rest.BeforeCreate(strategyWith(misfit), byAlice(), tc.sent)
			} else {
				err = rest.BeforeUpdate(strategyWith(misfit), byAlice(), tc.sent, tc.stored)
			}
			expectCauses(t, err, tc.wantFields...)
		})
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
)

func singleton(policy *admissionregistration.ValidatingAdmissionPolicy) {
	policy.Spec.PolicyType = new(v1.SingletonPolicy)
}

func typeChecking(mode v1.TypeCheckingMode) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) { policy.Spec.TypeChecking = new(mode) }
}

// failurePolicies gives the policy one validation for each of the failure policies.
func failurePolicies(each ...*v1.FailurePolicyType) func(*admissionregistration.ValidatingAdmissionPolicy) {
	return func(policy *admissionregistration.ValidatingAdmissionPolicy) {
		policy.Spec.Validations = nil
		for _, failurePolicy := range each {
			policy.Spec.Validations = append(policy.Spec.Validations, v1.Validation{Expression: "object != null", FailurePolicy: failurePolicy})
		}
	}
}

// A field of a gate that is off gets into no object that does not have it, and is
// lost from none that has.
func TestFieldsOfGates(t *testing.T) {
	const (
		singletons = features.ValidatingAdmissionPolicySingleton
		overrides  = features.ValidatingAdmissionPolicyValidationFailurePolicy
		types      = features.AdmissionPolicyTypeEnforcement
	)
	ignore, enforced, informational := new(v1.Ignore), typeChecking(v1.EnforcedTypeChecking), typeChecking(v1.InformationalTypeChecking)
	type policy = *admissionregistration.ValidatingAdmissionPolicy
	for name, tc := range map[string]struct {
		on                 featuregate.Feature
		stored, sent, want policy // without a stored one it is a create
		wantGeneration     int64
	}{
		"singleton, off: create":                 {sent: demo(singleton), want: demo(), wantGeneration: 1},
		"singleton, off: update":                 {stored: demo(), sent: demo(singleton), want: demo(), wantGeneration: 7},
		"singleton, off: update of something":    {stored: demo(), sent: demo(singleton, expression("true")), want: demo(expression("true")), wantGeneration: 8},
		"singleton, off: stored, kept":           {stored: demo(singleton), sent: demo(singleton, expression("true")), want: demo(singleton, expression("true")), wantGeneration: 8},
		"singleton, off: stored, taken away":     {stored: demo(singleton), sent: demo(), want: demo(), wantGeneration: 8},
		"singleton, other gate on: create":       {on: overrides, sent: demo(singleton), want: demo(), wantGeneration: 1},
		"singleton, on: create":                  {on: singletons, sent: demo(singleton), want: demo(singleton), wantGeneration: 1},
		"singleton, on: update":                  {on: singletons, stored: demo(), sent: demo(singleton), want: demo(singleton), wantGeneration: 8},
		"singleton, on again: stored, kept":      {on: singletons, stored: demo(singleton), sent: demo(singleton, label), want: demo(singleton, label), wantGeneration: 7},
		"failurePolicy, off: create":             {sent: demo(failurePolicies(ignore, nil)), want: demo(failurePolicies(nil, nil)), wantGeneration: 1},
		"failurePolicy, off: update":             {stored: demo(failurePolicies(nil, nil)), sent: demo(failurePolicies(nil, ignore)), want: demo(failurePolicies(nil, nil)), wantGeneration: 7},
		"failurePolicy, off: stored, kept":       {stored: demo(failurePolicies(nil, ignore)), sent: demo(failurePolicies(nil, ignore), label), want: demo(failurePolicies(nil, ignore), label), wantGeneration: 7},
		"failurePolicy, off: stored, moved":      {stored: demo(failurePolicies(nil, ignore)), sent: demo(failurePolicies(ignore, nil)), want: demo(failurePolicies(ignore, nil)), wantGeneration: 8},
		"failurePolicy, off: stored, taken away": {stored: demo(failurePolicies(nil, ignore)), sent: demo(failurePolicies(nil, nil)), want: demo(failurePolicies(nil, nil)), wantGeneration: 8},
		"failurePolicy, other gate on: create":   {on: singletons, sent: demo(failurePolicies(ignore)), want: demo(failurePolicies(nil)), wantGeneration: 1},
		"failurePolicy, on: create":              {on: overrides, sent: demo(failurePolicies(ignore, nil)), want: demo(failurePolicies(ignore, nil)), wantGeneration: 1},
		"failurePolicy, on: update":              {on: overrides, stored: demo(failurePolicies(nil)), sent: demo(failurePolicies(ignore)), want: demo(failurePolicies(ignore)), wantGeneration: 8},
		"failurePolicy, on again: stored, kept":  {on: overrides, stored: demo(failurePolicies(ignore)), sent: demo(failurePolicies(ignore), label), want: demo(failurePolicies(ignore), label), wantGeneration: 7},
		"typeChecking, off: create":              {sent: demo(enforced), want: demo(), wantGeneration: 1},
		"typeChecking, off: create with default": {sent: demo(informational), want: demo(), wantGeneration: 1},
		"typeChecking, off: update":              {stored: demo(), sent: demo(enforced), want: demo(), wantGeneration: 7},
		"typeChecking, off: stored, kept":        {stored: demo(enforced), sent: demo(enforced, label), want: demo(enforced, label), wantGeneration: 7},
		"typeChecking, off: stored, changed":     {stored: demo(enforced), sent: demo(informational), want: demo(informational), wantGeneration: 8},
		"typeChecking, off: stored, taken away":  {stored: demo(enforced), sent: demo(), want: demo(), wantGeneration: 8},
		"typeChecking, other gate on: create":    {on: singletons, sent: demo(enforced), want: demo(), wantGeneration: 1},
		"typeChecking, on: create":               {on: types, sent: demo(enforced), want: demo(enforced), wantGeneration: 1},
		"typeChecking, on: create without":       {on: types, sent: demo(), want: demo(), wantGeneration: 1},
		"typeChecking, on: update":               {on: types, stored: demo(), sent: demo(enforced), want: demo(enforced), wantGeneration: 8},
		"typeChecking, on again: stored, kept":   {on: types, stored: demo(enforced), sent: demo(enforced, label), want: demo(enforced, label), wantGeneration: 7},
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
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want.Spec, tc.sent.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if tc.sent.Generation != tc.wantGeneration {
				t.Errorf("got generation %d, want %d", tc.sent.Generation, tc.wantGeneration)
			}
		})
	}
}

// Validation sees what is left after fields were dropped.
func TestValidationOfFieldsOfGates(t *testing.T) {
	unknown := typeChecking("Unheard")
	for name, tc := range map[string]struct {
		on           bool
		stored, sent *admissionregistration.ValidatingAdmissionPolicy
		wantFields   []string
	}{
		"off: unknown typeChecking":                    {sent: demo(unknown)},
		"off: stored typeChecking becomes unknown":     {stored: demo(typeChecking(v1.EnforcedTypeChecking)), sent: demo(unknown), wantFields: []string{"spec.typeChecking"}},
		"on: unknown typeChecking":                     {on: true, sent: demo(unknown), wantFields: []string{"spec.typeChecking"}},
		"on: typeChecking becomes unknown":             {on: true, stored: demo(), sent: demo(unknown), wantFields: []string{"spec.typeChecking"}},
		"off: singleton with params":                   {sent: demo(singleton, params("ConfigMap"))},
		"off: stored singleton gets params":            {stored: demo(singleton), sent: demo(singleton, params("ConfigMap")), wantFields: []string{"spec.paramKind"}},
		"off: stored singleton becomes a policy again": {stored: demo(singleton), sent: demo(params("ConfigMap"))},
		"on: singleton with params":                    {on: true, sent: demo(singleton, params("ConfigMap")), wantFields: []string{"spec.paramKind"}},
		"on: singleton with unreadable params":         {on: true, sent: demo(singleton, params("Secret")), wantFields: []string{"spec.paramKind"}},
		"on: policy becomes a singleton":               {on: true, stored: demo(params("ConfigMap")), sent: demo(singleton)},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.ValidatingAdmissionPolicySingleton: tc.on,
				features.AdmissionPolicyTypeEnforcement:     tc.on,
			})
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

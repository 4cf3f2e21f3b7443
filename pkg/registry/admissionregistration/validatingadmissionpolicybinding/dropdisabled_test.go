// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicybinding_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
)

func fallback(binding *admissionregistration.ValidatingAdmissionPolicyBinding) {
	binding.Spec.BindingType = new(v1.FallbackBinding)
}

// A field of a gate that is off gets into no object that does not have it, and is
// lost from none that has.
func TestFieldOfGate(t *testing.T) {
	for name, tc := range map[string]struct {
		on                 bool
		stored, sent, want *admissionregistration.ValidatingAdmissionPolicyBinding // without a stored one it is a create
		wantGeneration     int64
	}{
		"off: create":              {sent: demo(fallback), want: demo(), wantGeneration: 1},
		"off: update":              {stored: demo(), sent: demo(fallback), want: demo(), wantGeneration: 7},
		"off: update of something": {stored: demo(), sent: demo(fallback, actions(v1.Audit)), want: demo(actions(v1.Audit)), wantGeneration: 8},
		"off: stored, kept":        {stored: demo(fallback), sent: demo(fallback, actions(v1.Audit)), want: demo(fallback, actions(v1.Audit)), wantGeneration: 8},
		"off: stored, taken away":  {stored: demo(fallback), sent: demo(), want: demo(), wantGeneration: 8},
		"on: create":               {on: true, sent: demo(fallback), want: demo(fallback), wantGeneration: 1},
		"on: update":               {on: true, stored: demo(), sent: demo(fallback), want: demo(fallback), wantGeneration: 8},
		"on again: stored, kept":   {on: true, stored: demo(fallback), sent: demo(fallback, label), want: demo(fallback, label), wantGeneration: 7},
		"on: without":              {on: true, sent: demo(), want: demo(), wantGeneration: 1},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ValidatingAdmissionPolicyFallbackBinding, tc.on)
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

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package staticname_test

import (
	"testing"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/celador/pkg/registry/admissionregistration/staticname"
)

func TestStaticNames(t *testing.T) {
	for name, tc := range map[string]struct {
		gate                       bool
		name                       string
		errors, onCreate, onUpdate int
	}{
		"ordinary, gate on":  {gate: true, name: "demo.example.com"},
		"ordinary, gate off": {name: "demo.example.com"},
		"static, gate on":    {gate: true, name: "demo.static.k8s.io", errors: 1, onUpdate: 1},
		"static, gate off":   {name: "demo.static.k8s.io", onCreate: 1, onUpdate: 1},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ManifestBasedAdmissionControlConfig, tc.gate)
			if errs := staticname.Validate(tc.name); len(errs) != tc.errors {
				t.Errorf("got errors %v, want %d", errs, tc.errors)
			}
			if warnings := staticname.WarningsOnCreate(tc.name); len(warnings) != tc.onCreate {
				t.Errorf("got warnings on create %v, want %d", warnings, tc.onCreate)
			}
			if warnings := staticname.WarningsOnUpdate(tc.name); len(warnings) != tc.onUpdate {
				t.Errorf("got warnings on update %v, want %d", warnings, tc.onUpdate)
			}
		})
	}
}

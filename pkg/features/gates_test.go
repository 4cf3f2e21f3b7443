// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package features_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"

	"celador.io/celador/pkg/features"
)

func TestGateOfKubeComponent(t *testing.T) {
	gate := compatibility.DefaultComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if !gate.Enabled(features.ValidatingAdmissionPolicy) {
		t.Error("ValidatingAdmissionPolicy is off by default")
	}
}

func TestGateSwitches(t *testing.T) {
	for _, emulated := range []string{"1.34", "1.36", "1.37"} {
		t.Run(emulated, func(t *testing.T) {
			gate := own(t, emulated)
			if !gate.Enabled(features.ValidatingAdmissionPolicy) {
				t.Error("off by default")
			}
			if err := gate.Set("ValidatingAdmissionPolicy=false"); err != nil {
				t.Fatal(err)
			}
			if gate.Enabled(features.ValidatingAdmissionPolicy) {
				t.Error("still on after --feature-gates=ValidatingAdmissionPolicy=false")
			}
		})
	}
}

// own returns a copy of the process-wide gate that emulates a Kubernetes version.
func own(t *testing.T, emulated string) featuregate.MutableVersionedFeatureGate {
	t.Helper()
	gate := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := gate.SetEmulationVersion(version.MustParse(emulated)); err != nil {
		t.Fatal(err)
	}
	return gate
}

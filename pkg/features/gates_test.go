// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package features_test

import (
	"fmt"
	"slices"
	"strings"
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

// The gate has its stages in Kubernetes, which locked it in the last one. Here it can be set in all
// of them.
func TestMatchConditionsGate(t *testing.T) {
	for emulated, byDefault := range map[string]bool{"1.27": false, "1.28": true, "1.29": true, "1.30": true, "1.34": true, "1.37": true} {
		for _, on := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s set to %v", emulated, on), func(t *testing.T) {
				gate := own(t, emulated)
				if got := gate.Enabled(features.AdmissionWebhookMatchConditions); got != byDefault {
					t.Errorf("on by default: %v, want %v", got, byDefault)
				}
				if err := gate.Set(fmt.Sprintf("AdmissionWebhookMatchConditions=%v", on)); err != nil {
					t.Fatal(err)
				}
				if got := gate.Enabled(features.AdmissionWebhookMatchConditions); got != on {
					t.Errorf("on after it was set: %v, want %v", got, on)
				}
			})
		}
	}
	if line := "kube:AdmissionWebhookMatchConditions=true|false (GA - default=true)"; !slices.Contains(features.Help(), line) {
		t.Errorf("--help has no %q", line)
	}
}

// Celador's own gates first appear in 1.37. A server that emulates an older version neither accepts
// nor lists them.
func TestAlphaGates(t *testing.T) {
	for _, feature := range []featuregate.Feature{
		features.ValidatingAdmissionPolicySingleton,
		features.ValidatingAdmissionPolicyValidationFailurePolicy,
		features.ValidatingAdmissionPolicyFallbackBinding,
		features.AdmissionPolicyTypeEnforcement,
		features.MutatingAdmissionPolicyInlineExpressions,
	} {
		for emulated, known := range map[string]bool{"1.36": false, "1.37": true} {
			t.Run(string(feature)+" in "+emulated, func(t *testing.T) {
				gate := own(t, emulated)
				if gate.Enabled(feature) {
					t.Error("on by default")
				}
				listed := slices.ContainsFunc(gate.KnownFeatures(), func(line string) bool {
					return strings.Contains(line, string(feature)+"=true|false (ALPHA - default=false)")
				})
				if listed != known {
					t.Errorf("--help lists it: %v, want %v", listed, known)
				}
				err := gate.Set(string(feature) + "=true")
				if (err == nil) != known {
					t.Errorf("--feature-gates=%s=true: got error %v, want one: %v", feature, err, !known)
				}
				if gate.Enabled(feature) != known {
					t.Errorf("after --feature-gates=%s=true it is on: %v, want %v", feature, !known, known)
				}
			})
		}
		t.Run(string(feature)+" with AllAlpha", func(t *testing.T) {
			gate := own(t, "1.37")
			if err := gate.Set("AllAlpha=true"); err != nil {
				t.Fatal(err)
			}
			if !gate.Enabled(feature) {
				t.Error("off after --feature-gates=AllAlpha=true")
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

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

	customresources "celador.io/apiextensions-apiserver/pkg/features"
	"celador.io/apiserver/pkg/features"
)

func TestGateOfKubeComponent(t *testing.T) {
	gate := compatibility.DefaultComponentGlobalsRegistry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if !gate.Enabled(features.ValidatingAdmissionPolicy) {
		t.Error("ValidatingAdmissionPolicy is off by default")
	}
}

// TestStagesOfStableGates shows that gates which Kubernetes locked in their last stage, and removed
// later, have the stages that they had in Kubernetes. Here they can be switched in all stages.
func TestStagesOfStableGates(t *testing.T) {
	for gate, stages := range map[featuregate.Feature]map[string]bool{
		features.ValidatingAdmissionPolicy:       {"1.26": false, "1.28": false, "1.29": false, "1.30": true, "1.34": true, "1.37": true},
		features.AdmissionWebhookMatchConditions: {"1.27": false, "1.28": true, "1.29": true, "1.30": true, "1.34": true, "1.37": true},
	} {
		for emulated, byDefault := range stages {
			for _, on := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s in %s set to %v", gate, emulated, on), func(t *testing.T) {
					gates := gateOf(t, emulated)
					if got := gates.Enabled(gate); got != byDefault {
						t.Errorf("on by default: %v, want %v", got, byDefault)
					}
					if err := gates.Set(fmt.Sprintf("%s=%v", gate, on)); err != nil {
						t.Fatal(err)
					}
					if got := gates.Enabled(gate); got != on {
						t.Errorf("on after it was set: %v, want %v", got, on)
					}
				})
			}
		}
		if line := "kube:" + string(gate) + "=true|false (GA - default=true)"; !slices.Contains(features.Help(), line) {
			t.Errorf("--help has no %q", line)
		}
	}
}

// Celador's own gates first appear in 1.37. A server that emulates an older version neither accepts
// nor lists them.
func TestAlphaGates(t *testing.T) {
	for _, feature := range []featuregate.Feature{
		features.ValidatingAdmissionPolicySingleton,
		features.ValidatingAdmissionPolicyValidationFailurePolicy,
		features.ValidatingAdmissionPolicyFallbackBinding,
		features.MutatingAdmissionPolicySingleton,
		features.MutatingAdmissionPolicyFallbackBinding,
		features.AdmissionPolicyTypeEnforcement,
		features.MutatingAdmissionPolicyInlineExpressions,
		features.AdmissionPolicyLookups,
		features.AdmissionPolicyRequestTime,
		features.AdmissionPolicyCauses,
		features.AdmissionPolicyExpressionScopes,
		customresources.CustomResourceConversionRules,
		customresources.CustomResourceDefaultExpressions,
	} {
		for emulated, known := range map[string]bool{"1.36": false, "1.37": true} {
			t.Run(string(feature)+" in "+emulated, func(t *testing.T) {
				gate := gateOf(t, emulated)
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
			gate := gateOf(t, "1.37")
			if err := gate.Set("AllAlpha=true"); err != nil {
				t.Fatal(err)
			}
			if !gate.Enabled(feature) {
				t.Error("off after --feature-gates=AllAlpha=true")
			}
		})
	}
}

// gateOf returns a copy of the process-wide gate that emulates a Kubernetes version.
func gateOf(t *testing.T, emulated string) featuregate.MutableVersionedFeatureGate {
	t.Helper()
	gate := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := gate.SetEmulationVersion(version.MustParse(emulated)); err != nil {
		t.Fatal(err)
	}
	return gate
}

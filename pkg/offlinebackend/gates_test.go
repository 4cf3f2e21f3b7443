// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

const singleton = `
apiVersion: test.celador.io/v1alpha1
kind: Suite
metadata: {name: singleton}
FEATURES
manifests:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: never}
  spec:
    policyType: Singleton
    matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
    validations: [{expression: "false"}]
cases:
- name: a config map
  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
  expect: {decision: DECISION}
`

// TestFeatureGates runs suites with different gates together.
func TestFeatureGates(t *testing.T) {
	var tests []*suite.Test
	for features, decision := range map[string]string{
		"featureGates: {ValidatingAdmissionPolicySingleton: true}":                                                 "Denied",
		"featureGates: {ValidatingAdmissionPolicySingleton: true, ValidatingAdmissionPolicyFallbackBinding: true}": "Denied",
		"featureGates: {ValidatingAdmissionPolicyFallbackBinding: true}":                                           "NoMatch",
		"featureGates: {Unknown: true}":                                                                            "featureGates: unrecognized feature gate: Unknown",
		"":                                                                                                         "NoMatch",
	} {
		text := strings.NewReplacer("FEATURES", features, "DECISION", "Denied").Replace(singleton)
		file := filepath.Join(t.TempDir(), "suite.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := new(suite.Loader).Load(file)
		if err != nil {
			t.Fatal(err)
		}
		loaded[0].Name = features + "\n" + decision
		tests = append(tests, loaded...)
	}
	for _, result := range (&suite.Runner{Backend: offlinebackend.KubeAPIServer}).Run(t.Context(), tests) {
		features, want, _ := strings.Cut(result.Name, "\n")
		got := result.Cases[0]
		if got.Err == nil && string(got.Decision) != want || got.Err != nil && !strings.Contains(got.Err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %v", features, got.Decision, got.Err, want)
		}
	}
	if offlinebackend.KubeAPIServer.Features()["ValidatingAdmissionPolicySingleton"] {
		t.Error("the gate is still on")
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"celador.io/offline/manifest"
	"celador.io/offline/skeleton"

	"celador.io/celador/pkg/offlinebackend"
)

// TestSamples writes a suite for a policy of each built-in kind that has a sample, and runs it.
func TestSamples(t *testing.T) {
	samples, err := manifest.Read("../../staging/src/celador.io/offline/skeleton/samples.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range samples {
		resource, _ := meta.UnsafeGuessKindToResource(sample.GroupVersionKind())
		t.Run(resource.Resource, func(t *testing.T) {
			directory := t.TempDir()
			file := filepath.Join(directory, "policy.yaml")
			policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["%s"], apiVersions: [%s], operations: [CREATE], resources: [%s]}]
  validations: [{expression: "object.metadata.name == 'example'"}]
`, resource.Group, resource.Version, resource.Resource)
			if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
				t.Fatal(err)
			}
			content, err := skeleton.New(t.Context(), offlinebackend.KubeAPIServer, file, directory)
			if err != nil {
				t.Fatal(err)
			}
			result := runSuiteIn(t, directory, string(content))
			if len(result.Cases) != 2 {
				t.Errorf("%d cases, want 2", len(result.Cases))
			}
			for i := range result.Cases {
				if c := &result.Cases[i]; !c.Passed() {
					t.Errorf("%s does not pass: error %v, mismatches %+v in:\n%s", c.Name, c.Err, c.Mismatches, content)
				}
			}
		})
	}
}

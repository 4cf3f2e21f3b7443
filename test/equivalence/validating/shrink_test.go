// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/celador/test/equivalence/harness"
)

// shrink returns a small scenario and requests for which the plugins differ.
func shrink(t *testing.T, s scenario, requests map[string]request) (scenario, map[string]request) {
	t.Helper()
	return harness.Shrink(s, requests, func(s scenario, requests map[string]request) bool {
		return compareIn(t, s, requests).Unexplained != nil
	})
}

// describe returns the manifests of a scenario and of requests.
func describe(s scenario, requests map[string]request) string {
	var text strings.Builder
	text.WriteString(harness.YAML(s))
	for name, r := range requests {
		fmt.Fprintf(&text, "--- %s: %s %s %q in %q by %v, dry run %t, timeout %s\n", name, r.Operation, r.Resource, r.Subresource, r.Namespace, r.User, r.DryRun, r.Timeout)
		for field, object := range map[string]runtime.Object{"object": r.Object, "oldObject": r.Old} {
			if object == nil {
				continue
			}
			// Internal types have no JSON form.
			if versioned, err := admission.ConvertToGVK(object, r.Kind, harness.Interfaces); err == nil {
				object = versioned
			}
			text.WriteString(harness.YAML(map[string]any{field: object}))
		}
	}
	return text.String()
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"strings"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
)

// CEL values on which structured-merge-diff panics, or which JSON cannot represent, are failures of
// the mutation.
func TestUnsupportedValues(t *testing.T) {
	for _, expression := range []string{
		`Object{data: format.dns1123Label()}`,
		`Object{data: {"a": format.dns1123Label()}}`,
		`Object{metadata: Object.metadata{finalizers: [[format.dns1123Label()]]}}`,
	} {
		for name, mutation := range map[string]v1.Mutation{
			"apply configuration": {PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression}},
			"JSON merge patch":    jsonMerge(expression),
			"strategic":           strategic(expression),
		} {
			t.Run(name+" "+expression, func(t *testing.T) {
				p := policytest.Mutating("p", mutation)
				p.Spec.FailurePolicy = new(v1.Ignore)
				s := create(on, configMap("a", "1"), p)
				result, err := s.mutate(t)
				if err != nil || len(result.Failures) != 1 || !result.Failures[0].Ignored || strings.TrimSpace(result.Failures[0].Message) == "" {
					t.Errorf("got %v, failures %v, want one that is ignored", err, result.Failures)
				}
				if got := s.data()["a"]; got != "1" {
					t.Errorf("the object is changed: %v", s.data())
				}
			})
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"celador.io/offline/coverage"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/builtin"
)

// TestSuites runs the suites of all examples. They show how cases cover all branches of a policy.
func TestSuites(t *testing.T) {
	files, err := suite.Find(".")
	if err != nil {
		t.Fatal(err)
	}
	var tests []*suite.Test
	for _, file := range files {
		loaded, err := suite.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, loaded...)
	}
	profile := &coverage.Profile{}
	runner := suite.Runner{Types: builtin.Types, Coverage: profile}
	for _, result := range runner.Run(t.Context(), tests) {
		for i := range result.Cases {
			c := &result.Cases[i]
			t.Run(result.Name+"/"+c.Name, func(t *testing.T) {
				if !c.Passed() {
					t.Errorf("%s: error %v, mismatches %+v", c.Position, c.Err, c.Mismatches)
				}
			})
		}
	}
	for _, e := range profile.Expressions() {
		for _, b := range e.Branches {
			if !b.Covered {
				t.Errorf("%s: %s: %s", e.Position, e.Field, b.Missing)
			}
		}
	}
}

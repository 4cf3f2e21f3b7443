// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"path/filepath"
	"slices"
	"testing"

	"celador.io/offline/coverage"
	"celador.io/offline/suite"

	"celador.io/celador/pkg/offlinebackend"
)

// covered are the examples whose suites reach all branches of their policies. The others show one
// feature.
var covered = []string{"mutating-dns", "mutating-image-pull", "mutating-proxy", "mutating-replicas", "replica-limit"}

// TestSuites runs the suites of all examples.
func TestSuites(t *testing.T) {
	files, err := new(suite.Loader).Find(".")
	if err != nil {
		t.Fatal(err)
	}
	var tests []*suite.Test
	for _, file := range files {
		loaded, err := new(suite.Loader).Load(file)
		if err != nil {
			t.Fatal(err)
		}
		tests = append(tests, loaded...)
	}
	profile := &coverage.Profile{}
	runner := suite.Runner{Backend: offlinebackend.KubeAPIServer, Coverage: profile}
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
		if !slices.Contains(covered, filepath.Base(filepath.Dir(e.Position.File))) {
			continue
		}
		for _, b := range e.Branches {
			if !b.Covered {
				t.Errorf("%s: %s: %s", e.Position, e.Field, b.Missing)
			}
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"celador.io/celador/test/e2e/conformance/specs"
)

// Only the suite knows which specs exist. This test checks the format of the file.
func TestExceptions(t *testing.T) {
	list, err := specs.ReadExceptions(strings.NewReader(exceptions))
	if err != nil {
		t.Fatal(err)
	}
	for _, exception := range list {
		inGroup := func(group specs.Group) bool { return group.Has(exception.Spec) }
		if !slices.ContainsFunc(groups, inGroup) {
			t.Errorf("%q is in none of the groups %q", exception.Spec, groups)
		}
	}
}

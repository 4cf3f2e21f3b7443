// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"testing"

	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/yaml"
)

// UniqueName returns a name that no other test uses.
func UniqueName(prefix string) string { return names.SimpleNameGenerator.GenerateName(prefix + "-") }

// Parse decodes YAML. It ends the test if the text has unknown fields.
func Parse[T any](t testing.TB, text string) T {
	t.Helper()
	var value T
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return value
}

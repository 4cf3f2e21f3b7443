// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"fmt"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/yaml"
)

var lastName atomic.Int64

// UniqueName returns a name that no other test of the process uses. It is safe for concurrent use.
func UniqueName(prefix string) string { return fmt.Sprintf("%s-%d", prefix, lastName.Add(1)) }

// Parse decodes YAML. It ends the test if the text has unknown fields.
func Parse[T any](t testing.TB, text string) T {
	t.Helper()
	var value T
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return value
}

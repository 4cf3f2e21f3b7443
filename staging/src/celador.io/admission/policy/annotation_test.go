// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"celador.io/admission/policy"
)

// The value of an annotation is JSON, or says why there is none.
func TestNewJSONAnnotation(t *testing.T) {
	for want, content := range map[string]any{
		`["a"]`:                             []string{"a"},
		"json: unsupported type: chan bool": make(chan bool),
	} {
		if got := policy.NewJSONAnnotation("key", content); got != (policy.Annotation{Key: "key", Value: want}) {
			t.Errorf("got %v, want the value %s", got, want)
		}
	}
}

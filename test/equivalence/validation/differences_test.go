// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// difference is a wanted difference between Celador's errors and Kubernetes'. The tests fail on any
// other.
type difference struct {
	name, reason string
	// explains reports whether the difference is the reason for two different errors.
	explains func(celador, upstream string) bool
	// celador and upstream are such errors.
	celador, upstream string
}

var differences = []difference{
	{
		name:   "values of required fields",
		reason: "The error for a required field that is missing lists the values that the field can have. Kubernetes' error lists them for other values only.",
		explains: func(celador, upstream string) bool {
			detail, found := strings.CutPrefix(celador, upstream)
			return found && strings.HasPrefix(upstream, "FieldValueRequired ") && strings.HasSuffix(upstream, " Required value") &&
				strings.HasPrefix(detail, `: supported values: "`)
		},
		celador:  `FieldValueRequired spec.paramRef.parameterNotFoundAction Required value: supported values: "Deny", "Allow"`,
		upstream: "FieldValueRequired spec.paramRef.parameterNotFoundAction Required value",
	},
}

// diff returns the differences between Kubernetes' errors and Celador's that are not wanted.
func diff(upstream, celador []string) string {
	same := cmp.Comparer(func(a, b string) bool {
		if a == b {
			return true
		}
		for _, d := range differences {
			// cmp requires symmetric comparers.
			if d.explains(a, b) || d.explains(b, a) {
				return true
			}
		}
		return false
	})
	return cmp.Diff(upstream, celador, same)
}

// TestDifferences checks that the differences occur, and that they do not explain other ones.
func TestDifferences(t *testing.T) {
	got, err := ourBinding(patched(t, validBinding, "spec: {paramRef: {name: limit}}"), nil, withDefaults)
	if err != nil {
		t.Fatal(err)
	}
	want, err := stockBinding(patched(t, validBinding, "spec: {paramRef: {name: limit}}"), nil, withDefaults)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences {
		if diff := cmp.Diff([]string{d.celador}, causes(got)); diff != "" {
			t.Errorf("%s does not show any more: %s\n%s", d.name, d.reason, diff)
		}
		if diff := cmp.Diff([]string{d.upstream}, causes(want)); diff != "" {
			t.Errorf("%s does not show any more: %s\n%s", d.name, d.reason, diff)
		}
	}
	for name, pair := range map[string]struct{ celador, upstream string }{
		"another field": {`FieldValueRequired spec.a Required value: supported values: "a"`, "FieldValueRequired spec.b Required value"},
		"another type":  {`FieldValueInvalid spec.a Invalid value: supported values: "a"`, "FieldValueInvalid spec.a Invalid value"},
		"another text":  {"FieldValueRequired spec.a Required value: must be a", "FieldValueRequired spec.a Required value"},
		"other values":  {`FieldValueRequired spec.a Required value: supported values: "a"`, `FieldValueRequired spec.a Required value: supported values: "b"`},
	} {
		if diff([]string{pair.upstream}, []string{pair.celador}) == "" {
			t.Errorf("%s is explained", name)
		}
	}
}

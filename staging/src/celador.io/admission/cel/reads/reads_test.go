// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package reads_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"

	"celador.io/admission/cel/reads"
)

func TestRoots(t *testing.T) {
	env, err := cel.NewEnv(cel.OptionalTypes(), ext.TwoVarComprehensions(), ext.Lists(), cel.Variable("a", cel.DynType), cel.Variable("b", cel.DynType), cel.Variable("c", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	roots := map[string][]string{"a": {"first"}, "b": nil}
	// A question mark marks parts of which only the presence or size is read, or whether they are
	// null.
	for expression, want := range map[string]string{
		"c.x > 1":                     "",
		"a.x > b.y":                   "first.x y",
		"a == c":                      "first",
		"a == null || b.x != null":    "first? x?",
		"[1].all(a, a > 0)":           "",
		"[1].all(a, .a.x == a)":       "first.x",
		"[b.x].all(a, a > 0)":         "x",
		"a.x.exists(b, b.y)":          "first.x? first.x.[*].y",
		"a.?x.?y.orValue(1) == 1":     "first.x.y",
		"has(a.x.y) && has(c.x)":      "first.x.y?",
		"a.x.map(e, b)":               "first.x? ",
		"type(a) == map || a[b.x].y":  "first x first.[*].y",
		"a[?'x y'].hasValue() || c.z": "first.x y?",
		"a.x.all(k, v, k == 'y')":     "first.x? first.x.[*]",
		"a.x.distinct().size() == 1":  "first.x first.x?",
		"a.x.sort().size() == 1":      "first.x first.x?",
		"a.x.reverse().size() == 1":   "first.x?",
	} {
		checked, issues := env.Compile(expression)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		var got []string
		for _, read := range reads.Of(checked.NativeRep().Expr(), roots, nil).Reads {
			text := strings.Join(read.Path, ".")
			if !read.Whole {
				text += "?"
			}
			if !slices.Contains(got, text) {
				got = append(got, text)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: reads %q, want %q", expression, text, want)
		}
	}
}

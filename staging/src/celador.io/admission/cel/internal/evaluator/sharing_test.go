// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// TestSharedLibrary plans the same expressions in environments that declare different types for the
// same names, with one library, as the compiler does for policies.
func TestSharedLibrary(t *testing.T) {
	base := newLanguage(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv())
	var languages []*language
	for _, declared := range [][]cel.EnvOption{
		{cel.Variable("x", cel.DynType), cel.Variable("y", cel.DynType)},
		{cel.Variable("x", cel.StringType), cel.Variable("y", cel.ListType(cel.StringType))},
		{cel.Variable("x", cel.BytesType), cel.Variable("y", cel.MapType(cel.BytesType, cel.BytesType))},
		{cel.Variable("x", cel.IntType), cel.Variable("y", cel.ListType(cel.DynType))},
		{cel.Variable("x", cel.DoubleType), cel.Variable("y", cel.MapType(cel.DoubleType, cel.IntType))},
		{cel.Variable("x", cel.ListType(cel.StringType)), cel.Variable("y", cel.ListType(cel.ListType(cel.StringType)))},
	} {
		env, err := base.Extend(declared...)
		if err != nil {
			t.Fatal(err)
		}
		languages = append(languages, &language{Env: env, library: base.library})
	}
	long := "a text that is long enough to cost more than one unit"
	ins := []*input{
		{name: "texts", names: map[string]any{"x": long, "y": []string{"a", long}}},
		{name: "bytes", names: map[string]any{"x": []byte(long), "y": map[string]int{long: 1}}},
		{name: "ints", names: map[string]any{"x": 1, "y": []any{1, long}}},
		{name: "doubles", names: map[string]any{"x": 1.0, "y": map[int]string{1: long}}},
		{name: "lists", names: map[string]any{"x": []string{long, long}, "y": [][]string{{long, long}}}},
	}
	var programs []*program
	for _, source := range []string{
		"x + x", "x + x == x", "x < x", "x <= x || x > x", "x in y", "!(x in y)", "x == x", "size(x)", "x.size()", "string(x)", "bytes(x)", "int(x)",
		"type(x)", "dyn(x)", "x.startsWith(x)", "x.contains(x)", "x.matches('text')", "y.all(z, z == x)", "y.all(z, x == z)", "[x].all(z, z in [x])",
		"y.map(x, x)", "y.map(z, x + x)", "[x, x]", "[x][0]", "y[0]", "y[x]", "x == x ? x : x", "x.indexOf('a')", "y.max()", "x in [x]", "-x", "x * x",
	} {
		for _, l := range languages {
			p, err := l.compile(source)
			if err != nil {
				continue
			}
			// The programs keep their shared plans alive.
			programs = append(programs, p)
			for _, in := range ins {
				check(t, p, in)
			}
		}
	}
	for _, p := range programs {
		for _, in := range ins {
			check(t, p, in)
		}
	}
}

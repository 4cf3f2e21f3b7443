// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleerror_test

import (
	"slices"
	"testing"

	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
)

// The parser reports a field whose name is a word of CEL as a syntax error.
func TestHintsForWords(t *testing.T) {
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	names := ruleerror.Names{Variable: none, Field: none}
	const in = "Write __in__ for a field with the name in, which is a word of CEL"
	for expression, want := range map[string][]string{
		"self.spec.in":                 {in},
		"self.in == 'a'":               {in},
		"Object.spec{a: 'b', in: 'c'}": {in},
		"self.spec.true":               {"Write __true__ for a field with the name true, which is a word of CEL"},
		"self.spec. + 1":               nil,
		"self.spec.a in":               nil,
	} {
		_, issues := env.Compile(expression)
		if issues == nil {
			t.Errorf("%s compiles", expression)
			continue
		}
		if got := ruleerror.Hints(issues.String(), expression, names); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q for\n%s", expression, got, want, issues)
		}
	}
}

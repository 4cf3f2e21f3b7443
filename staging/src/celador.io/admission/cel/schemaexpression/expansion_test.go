// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// Chains and nestings of all macros are accepted, or refused with a reason, before they fill the
// memory.
func TestRepeatedMacros(t *testing.T) {
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"a": apiservercel.NewDeclField("a", apiservercel.NewSimpleTypeWithMinSize("string", cel.StringType, nil, 0), false, nil, nil),
		"o": apiservercel.NewDeclField("o", apiservercel.DynType, false, nil, nil),
		"l": apiservercel.NewDeclField("l", apiservercel.NewListType(apiservercel.IntType, 10), false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self, NullResults: true}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	const length = 30
	for name, test := range map[string]struct {
		source string
		// refused is set if the expression is too large.
		refused bool
	}{
		"chain of optMap":                {"self.?a" + strings.Repeat(".optMap(x, x + 'a')", length), true},
		"short chain of optMap":          {"self.?a" + strings.Repeat(".optMap(x, x + 'a')", 8), false},
		"chain of optFlatMap":            {"self.?a" + strings.Repeat(".optFlatMap(x, optional.of(x))", length), true},
		"nested optMap":                  {strings.Repeat("self.?a.optMap(x, ", length) + "x" + strings.Repeat(").orValue('')", length), false},
		"optMap in the target of optMap": {strings.Repeat("optional.of(", length) + "self.?a" + strings.Repeat(".optMap(x, x)).optFlatMap(y, y)", length), true},
		"many short chains":              {"[" + strings.Repeat("self.?a"+strings.Repeat(".optMap(x, x)", 8)+", ", 30) + "self.?a]", true},
		"a long list":                    {"[" + strings.Repeat("self.a, ", 5000) + "self.?a.optMap(x, x).orValue('')]", false},
		"deep has":                       {"has(self.o" + strings.Repeat(".o", 200) + ")", true},
		"a has of many fields":           {"has(self.o" + strings.Repeat(".o", 30) + ")", false},
		"many has":                       {strings.Repeat("has(self.o"+strings.Repeat(".o", 20)+") || ", 100) + "false", true},
		"many short has":                 {strings.Repeat("has(self.o.o.o.o.o) || ", 300) + "false", false},
		"chain of map":                   {"self.l" + strings.Repeat(".map(x, x + 1)", length), false},
		"chain of filter":                {"self.l" + strings.Repeat(".filter(x, x > 1)", length), false},
		"chain of exists":                {strings.Repeat("self.l.exists(x, x > 1) || ", length) + "false", false},
		"chain of sortBy":                {"self.l" + strings.Repeat(".sortBy(x, x)", length), false},
		"chain of transformList":         {"self.l" + strings.Repeat(".transformList(i, x, x)", length), false},
	} {
		_, compileErr := env.Compile(test.source)
		if isRefused := compileErr != nil && strings.Contains(compileErr.Detail, "the expression is too large: "); isRefused != test.refused || compileErr != nil && !isRefused {
			t.Errorf("%s: got error %v", name, compileErr)
		}
	}
}

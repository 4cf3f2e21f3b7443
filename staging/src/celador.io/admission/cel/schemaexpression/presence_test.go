// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// has() of a field in an unset object is false in rules, and remains an error in validation rules.
func TestPresenceInUnsetObjects(t *testing.T) {
	object := func(name string, declared *apiservercel.DeclType) *apiservercel.DeclType {
		return apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{name: apiservercel.NewDeclField(name, declared, true, nil, nil)})
	}
	self := object("a", object("b", object("c", apiservercel.StringType))).MaybeAssignTypeName("Self")
	for _, tc := range []struct {
		rule string
		// unchanged is set if the result is the same in validation rules.
		unchanged bool
	}{
		{"has(self.a.b.c)", false},
		{"has(self.a.b.c) && self.a.b.c == ''", false},
		{"[self].all(x, has(x.a.b.c))", false},
		{"optional.of(self).optMap(x, has(x.a.b)).orValue(true)", false},
		{"has(self.a)", true},
		{"[1].exists(i, has(self.a.b.c) && i == 1)", false},
	} {
		for _, nullResults := range []bool{true, false} {
			env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self, NullResults: nullResults}, environment.NewExpressions)
			if err != nil {
				t.Fatal(err)
			}
			expression, invalid := env.Compile(tc.rule)
			if invalid != nil {
				t.Fatal(invalid)
			}
			program, err := expression.Program()
			if err != nil {
				t.Fatal(err)
			}
			empty := types.NewRefValMap(types.DefaultTypeAdapter, nil)
			got := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: empty})
			if nullResults || tc.unchanged {
				if got.Value != types.False {
					t.Errorf("%s: got %v, %v", tc.rule, got.Value, got.Err)
				}
			} else if got.Err == nil || !strings.Contains(got.Err.Error(), "no such key: a") {
				t.Errorf("%s in a validation rule: got %v, %v", tc.rule, got.Value, got.Err)
			}
			if reads := expression.SelfReads(); len(reads) == 0 {
				t.Errorf("%s reads nothing", tc.rule)
			}
		}
	}
}

// has() of a field in a computed object means what it does in validation rules, also in a macro.
func TestPresenceInComputedObjects(t *testing.T) {
	self := apiservercel.NewObjectType("Self", map[string]*apiservercel.DeclField{"a": apiservercel.NewDeclField("a", apiservercel.DynType, true, nil, nil)})
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self, NullResults: true}, environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{"has([self][0].a.b)", "[1].exists(i, has([self][0].a.b))"} {
		expression, invalid := env.Compile(rule)
		if invalid != nil {
			t.Errorf("%s: %v", rule, invalid)
			continue
		}
		program, err := expression.Program()
		if err != nil {
			t.Fatal(err)
		}
		empty := types.NewRefValMap(types.DefaultTypeAdapter, nil)
		if got := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: empty}); got.Err == nil || got.Err.Error() != "no such key: a" {
			t.Errorf("%s: got %v, %v", rule, got.Value, got.Err)
		}
	}
}

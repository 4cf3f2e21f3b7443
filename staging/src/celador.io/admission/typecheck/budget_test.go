// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/typecheck"
)

// The cost of checking a policy with many types is bounded, even if its expressions are long or
// have large types.
func TestTypesOfPolicy(t *testing.T) {
	described := schemas{}
	mapper := mapperFor()
	var many []func(*v1.ValidatingAdmissionPolicySpec)
	for i := range 12 {
		var names []string
		for j := range 5 {
			kind := schema.GroupVersionKind{Group: "many.example.com", Version: "v1", Kind: fmt.Sprintf("K%02d", 5*i+j)}
			described[kind] = objectOf(nil)
			mapper.Add(kind, meta.RESTScopeNamespace)
			names = append(names, strings.ToLower(kind.Kind)+"s")
		}
		many = append(many, rule("many.example.com", "v1", names...))
	}
	nested := func(depth int) string { return "[1]" + strings.Repeat(".map(a, {a: a})", depth) + " == []" }
	long := "true" + strings.Repeat(" ", 10_000)
	for name, test := range map[string]struct {
		expressions []string
		rules       int
		types       int
	}{
		"as many as may be":      {[]string{"true"}, 10, 50},
		"more":                   {[]string{"true"}, 12, 50},
		"long expressions":       {[]string{long, long}, 12, 7},
		"very long expressions":  {strings.Split(strings.Repeat(long+",", 9)+long, ","), 12, 1},
		"one that is very long":  {[]string{"true" + strings.Repeat(" ", 90_000)}, 12, 1},
		"types that double":      {[]string{nested(10)}, 10, 15},
		"types that are small":   {[]string{nested(5), nested(5)}, 10, 50},
		"many short expressions": {strings.Split(strings.Repeat("true,", 999)+"true", ","), 12, 5},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(test.expressions[0], many[:test.rules]...)
			for _, e := range test.expressions[1:] {
				validation(e)(&p.Spec)
			}
			result := checker(t, mapper, described).CheckValidating(p)
			if len(result.Types) != test.types {
				t.Errorf("checked %d types, want %d", len(result.Types), test.types)
			}
			if omitted := 5*test.rules - test.types; len(result.Unchecked) != omitted {
				t.Errorf("%d types are not checked, want %d", len(result.Unchecked), omitted)
			}
			for i, u := range result.Unchecked {
				kind := fmt.Sprintf("K%02d", test.types+i)
				field := fmt.Sprintf("spec.matchConstraints.resourceRules[%d]", (test.types+i)/5)
				if u.Reason != typecheck.TooManyTypes || u.Kind.Kind != kind || u.Resource.Resource != strings.ToLower(kind)+"s" || u.Field != field || u.Err == nil {
					t.Errorf("not checked is %+v, want kind %s of %s", u, kind, field)
				}
			}
		})
	}
}

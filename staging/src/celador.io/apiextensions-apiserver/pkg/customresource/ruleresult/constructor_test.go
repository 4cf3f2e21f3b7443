// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/schemaexpression"
)

// TestConstructorErrors checks what authors read when they construct objects that do not fit the
// schema.
func TestConstructorErrors(t *testing.T) {
	f := newFixture(t)
	for _, tc := range []struct{ rule, want string }{
		{"Object{spec: Object.spec{txt: 'a'}}", "1:29: undefined field 'txt'"},
		{"Object{status: 'a'}", "1:14: undefined field 'status'"},
		{"Object{kind: 'a'}", "1:12: undefined field 'kind'"},
		{"Object.spec.none{a: 1}", "undeclared reference to 'Object.spec.none'"},
		{"Object.metadata{name: 'a'}", "1:21: undefined field 'name'"},
		{"Object.metadata{labels: {'a': 1}}", "1:25: the value is int for labels[*], which is a string: write string(...)"},
		{"Object.spec{text: self.spec.int}", "1:28: the value is int for text, which is a string: write string(...)"},
		{"Object.spec{?text: self.spec.?int}", "1:29: the value is int for text, which is a string: write string(...)"},
		{"Object.spec{endpoints: [Object.spec.nested{a: 'x'}]}", "1:24: the value is an Object.spec.nested for endpoints[*], which is an object with other fields (foo-bar, host, tags): construct the object with Object.spec.endpoints{...}, for the items of a list in .map(i, ...)"},
		{"Object.spec{nested: Object.spec.similar{a: 'x'}}", ""},
		{"Object.spec{nested: self.spec.differs}", "1:30: the value is int for nested.a, which is a string: write string(...)"},
		{"Object.spec.endpoints{foo__dash__bar: 'x'}", "1:39: the value is string for foo-bar, which is an integer: write int(...)"},
		{"Object.spec.open{anything: 1}", ""},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			_, err := f.environment.Compile(tc.rule)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// TestComparedObjects checks that comparing constructed objects ends with an error, also inside
// lists, where an error of a comparison would count as equal.
func TestComparedObjects(t *testing.T) {
	f := newFixture(t)
	for _, rule := range []string{
		"Object.spec{int: 1} == Object.spec{int: 2}",
		"[Object.spec{int: 1}] == [Object.spec{int: 2}]",
		"Object.spec{int: 1} in [Object.spec{int: 2}]",
	} {
		expression, celErr := f.environment.Compile(rule)
		if celErr != nil {
			t.Fatal(celErr)
		}
		program, err := expression.Program()
		if err != nil {
			t.Fatal(err)
		}
		evaluation := program.Evaluate(context.Background(), &schemaexpression.Activation{Self: types.NullValue})
		if evaluation.Err == nil || !strings.Contains(evaluation.Err.Error(), "constructed objects cannot be compared") {
			t.Errorf("%s: got %v, %v", rule, evaluation.Value, evaluation.Err)
		}
	}
}

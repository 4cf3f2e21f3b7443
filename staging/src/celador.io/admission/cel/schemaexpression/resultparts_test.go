// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

func TestResultParts(t *testing.T) {
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: guardedSelf(), NullResults: true}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ expression, parts string }{
		{"'x'", "=x"},
		{"self.a", "?"},
		{"null", "=<nil>"},
		{"has(self.a) ? 'x' : 'y'", "=x =y"},
		{"has(self.a) ? 'x' : null", "=x =<nil>"},
		{"self.?a.orValue('x')", "? =x"},
		{"['x', self.a]", "[*]=x [*]?"},
		{"{'k': 'x', self.a: 'y'}", "k=x [*]=y"},
		{"[{'k': 1}]", "[*].k=1"},
		{"self.l.map(i, {'k': 'x', 'l': i.a})", "[*].k=x [*].l?"},
		{"self.l.map(i, has(i.a), has(i.b) ? 'x' : i.a)", "[*]=x [*]?"},
		{"self.l.filter(i, has(i.a))", "[*]?"},
		{"self.l.all(i, has(i.a))", "?"},
		{"self.?a.optMap(a, 'x')", "=x =<nil>"},
		{"'x' + 'y'", "?"},
	} {
		t.Run(test.expression, func(t *testing.T) {
			x, err := env.Compile(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, part := range x.ResultParts() {
				text := strings.Join(part.Path, ".")
				if part.Constant == nil {
					text += "?"
				} else {
					text += fmt.Sprintf("=%v", part.Constant.Value())
				}
				parts = append(parts, text)
			}
			if got := strings.ReplaceAll(strings.Join(parts, " "), "NULL_VALUE", "<nil>"); got != test.parts {
				t.Errorf("got %q, want %q", got, test.parts)
			}
		})
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulefunctions"
)

func environments(t *testing.T) (kubernetes, rules *cel.Env) {
	t.Helper()
	set := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	extended, err := set.Extend(rulefunctions.Options())
	if err != nil {
		t.Fatal(err)
	}
	return set.StoredExpressionsEnv(), extended.StoredExpressionsEnv()
}

func evaluate(t *testing.T, env *cel.Env, source string) string {
	t.Helper()
	checked, issues := env.Compile(source)
	if issues != nil {
		return issues.Errors()[0].Message
	}
	program, err := env.Program(checked)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(map[string]any{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(checked.OutputType(), value)
}

// The values, types and errors are those of cel-go's macros.
func TestResults(t *testing.T) {
	kubernetes, rules := environments(t)
	for _, source := range []string{
		"optional.of(1).optMap(x, x + 1)",
		"optional.none().optMap(x, x)",
		"{'a': 1}[?'a'].optMap(x, x + 1).optMap(x, x * 2).orValue(0)",
		"{'a': 1}[?'b'].optMap(x, x + 1).optMap(x, x * 2).orValue(0)",
		"optional.of([]).optMap(x, x + [1]).value()",
		"optional.of([1, 2]).optMap(x, x.map(y, optional.of(y).optMap(x, x + 1).value())).value()",
		"optional.of(1).optMap(x, optional.of(2).optMap(y, x + y).value()).value()",
		"optional.of(1).optMap(x, optional.of(2).optMap(y, optional.of(x).optMap(x, x + y).value()).value()).value()",
		"optional.of('a').optFlatMap(x, {'a': 'b'}[?x])",
		"optional.of('c').optFlatMap(x, {'a': 'b'}[?x])",
		"optional.of('a').optFlatMap(x, {'a': 'b'}[?x]).optFlatMap(y, {'b': 1}[?y]).optMap(z, string(z))",
		"optional.of(0).optMap(x, 1 / x)",
		"optional.of('a').optMap(x, x + 1)",
		"optional.of('a').optFlatMap(x, x)",
		"'a'.optMap(x, x)",
	} {
		if got, want := evaluate(t, rules, source), evaluate(t, kubernetes, source); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
	}
	if got := evaluate(t, rules, "optional.of(1).optMap(x.y, 1)"); !strings.Contains(got, "must be the name of a variable") {
		t.Errorf("got %s", got)
	}
}

// The nodes of a chain grow with its length.
func TestNodes(t *testing.T) {
	_, rules := environments(t)
	for _, call := range []string{".optMap(x, x + 'a')", ".optFlatMap(x, optional.of(x))"} {
		nodes := func(length int) (n int) {
			parsed, issues := rules.Parse("optional.of('a')" + strings.Repeat(call, length))
			if issues != nil {
				t.Fatal(issues.Err())
			}
			ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(ast.Expr) { n++ }))
			return n
		}
		if ten, thirty := nodes(10), nodes(30); thirty > 3*ten {
			t.Errorf("%s: a chain of 10 has %d nodes, one of 30 has %d", call, ten, thirty)
		}
	}
}

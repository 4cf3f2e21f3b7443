// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"

	"celador.io/admission/cel/internal/evaluator"
)

// keys holds literals that cannot be keys of maps or indexes, or only in some places.
var keys = []string{
	"[1]", "[b'a']", "{b'a': 1}", "{[1]: 1}", "{'a': 1, 'a': 2}", "{1: 1, 1u: 2}", "{1.5: 1}", "{null: 1}", "{type(1): 1}", "{duration('1s'): 1}", "{dyn([1]): 1}", "{dyn(b'a'): 1}",
	"'('", "dyn('(')", "b'a'", "duration('1h')", "duration('x')", "timestamp('x')", "optional.of(1)", "[?maybe]", "{?'a': maybe}", "{?'a': optional.none()}",
}

// forms holds expressions in which $ stands for an operand or a key.
var forms = []string{
	"$", "[$]", "{$: 1}", "{dyn($): 1}", "{1: $}", "{'a': $, 'a': 1}", "{dyn($): 1, dyn($): 2}", "$ in [$]", "$ == $", "dyn($) in {dyn($): 1}", "$ + $", "type($)", "dyn($)",
	"duration($)", "timestamp($)", "bytes($)", "string($)", "int($)", "uint($)", "double($)", "bool($)", "quantity($)", "ip($)", "url($)", "semver($)", "cidr($)", "format.named($)", "timestamp(0).getHours($)",
	"matches('a', $)", "'a'.matches($)", "'a'.find($)", "'a'.findAll($)", "[1].all(x, 'a'.matches($))", "'a'.matches(string($))", "'%s'.format([$])", "$.format([1])", "'a'.replace($, $)",
	"false && duration($) == duration('1s')", "[1].map(x, $)", "optional.of($)", "[?$]", "{?'a': $}", "{?'a': optional.of($)}", "{?dyn($): maybe}",
	"[$][0]", "{'a': $}.a", "{$: 1}[$]", "$[0]", "$[$]", "object[$]", "object.spec[?$]", "any[$]", "scores[$]", "$.a", "has($.a)", "[[$]]", "[{$: 1}]", "{'a': {$: 1}}", "lists.range(1).map(x, {$: x})",
	"[1].transformMap(i, v, $)", "[$].transformMapEntry(i, v, {$: v})", "[$].transformList(i, v, v)", "[type($)].map(v, {v: 1})", "[type($)].transformList(i, v, [v])",
}

// What cel-go does not plan is declined, so that it fails when the expression is compiled, as in
// Kubernetes, and not when it is evaluated.
func TestUnplannable(t *testing.T) {
	var sources []string
	for _, form := range forms {
		for _, operand := range slices.Concat(operands, keys) {
			sources = append(sources, strings.ReplaceAll(form, "$", operand))
		}
	}
	for name, function := range kubernetes().Functions() {
		if _, isOperator := operators.FindReverse(name); isOperator || strings.Contains(name, "@") || strings.HasPrefix(name, "_") {
			continue
		}
		for _, overload := range function.OverloadDecls() {
			sources = append(sources, calls(name, overload.ArgTypes(), overload.IsMemberFunction())...)
		}
	}
	failed := 0
	for _, source := range sources {
		if err := plansOnlyHere(source); err != nil {
			failed++
			if strings.HasPrefix(err.Error(), "planned") {
				t.Errorf("%s: %v", source, err)
			}
		}
	}
	if failed < 100 {
		t.Errorf("cel-go plans all but %d expressions", failed)
	}
	t.Logf("%d expressions, cel-go does not plan %d", len(sources), failed)
}

// plansOnlyHere returns cel-go's error for an expression that compiles and that cel-go does not
// plan. The error says so if the evaluator plans the expression.
func plansOnlyHere(source string) (err error) {
	l := kubernetes()
	checked, compiles := tryCompile(l, source)
	if !compiles {
		return nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
		if err == nil {
			return
		}
		defer func() { _ = recover() }() // as programs.plan does
		if _, planErr := evaluator.Plan(l.Env, checked, l.library, evaluator.Scope{Variables: "variables", Positions: positionsOf(variableNames), Constructor: l.CELTypeProvider()}); planErr == nil {
			err = fmt.Errorf("planned, but cel-go does not plan it: %w", err)
		}
	}()
	_, err = l.Program(checked)
	return err
}

// tryCompile compiles an expression. cel-go panics where an optional entry of a list or map is of
// dynamic type.
func tryCompile(l *language, source string) (checked *cel.Ast, compiles bool) {
	defer func() { _ = recover() }()
	checked, issues := l.Compile(source)
	return checked, issues.Err() == nil
}

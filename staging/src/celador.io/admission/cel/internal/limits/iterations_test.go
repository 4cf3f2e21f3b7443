// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits_test

import (
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/limits"
)

// A probe is a call that measures the stack of cel-go's cost tracker. Its argument is not on the
// stack, so the tracker compares it with all values there.
type probe struct {
	interpreter.InterpretableCall
	absent interpreter.InterpretableV2
}

// Args implements interpreter.InterpretableCall.
func (p *probe) Args() []interpreter.InterpretableV2 { return []interpreter.InterpretableV2{p.absent} }

// An absent argument counts the comparisons of its ID.
type absent struct {
	interpreter.InterpretableConst
	comparisons *int
}

// ID implements interpreter.Interpretable.
func (a *absent) ID() int64 {
	*a.comparisons++
	return a.InterpretableConst.ID()
}

// loops holds loops of each macro, in which the call of % is a probe.
var loops = []string{
	"list.all(x, x % 2 < 2)", "list.exists(x, x % 2 > 2)", "list.exists_one(x, x % 2 > 2)", "list.map(x, x % 2).size() > 0", "list.filter(x, x % 2 == 0).size() > 0", "list.map(x, x > 2, x % 2).size() > 0",
	"list.all(i, x, x % 2 < 2)", "list.exists(i, x, x % 2 > 2)", "list.existsOne(i, x, x % 2 > 2)", "list.transformList(i, x, x % 2).size() > 0", "list.transformMap(i, x, x % 2).size() > 0",
	"lists.range(size(list)).all(i, list[i] % 2 < 2)", "list.map(x, {'a': x}).all(m, m.?a.orValue(0) % 2 < 2)", "[1, 2].all(y, list.all(x, x % 2 < 2))", "list.all(x, [1, 2].exists(y, y == 3) || x % 2 < 2)",
	"list.sortBy(x, x % 2).size() > 0", "list.all(x, x < 1 || x % 2 < 2)", "list.all(x, (x % 2 < 1 ? x : 1) > 0 || true)", "list.exists(x, 1 / (x - x) > x % 2)", "list.all(x, optional.of(x).optMap(y, y % 2).hasValue())",
}

// TestIterations counts the values on the stack of cel-go's cost tracker, all of which each
// iteration searches.
func TestIterations(t *testing.T) {
	env, err := environmentWithVariables(t).Extend(cel.Variable("list", cel.ListType(cel.IntType)))
	if err != nil {
		t.Fatal(err)
	}
	functions, err := evaluator.NewLibrary(env)
	if err != nil {
		t.Fatal(err)
	}
	growing := 0
	for _, source := range loops {
		checked, issues := env.Compile(source)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		comparisons := 0
		observe := func(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			if call, ok := node.(interpreter.InterpretableCall); ok && call.Function() == operators.Modulo {
				return &probe{call, &absent{interpreter.NewConstValue(-2, types.NullValue), &comparisons}}, nil
			}
			return node, nil
		}
		perIteration := func(planned *ast.AST, n int) int {
			program, err := env.PlanProgram(planned, cel.CustomDecoratorV2(limits.Decorator(checked.NativeRep(), functions)), cel.CustomDecoratorV2(observe))
			if err != nil {
				t.Fatal(err)
			}
			list := make([]int, n)
			for i := range list {
				list[i] = i + 1
			}
			comparisons = 0
			if _, _, err := program.Eval(map[string]any{"list": list}); err != nil && err.Error() != "division by zero" {
				t.Fatal(err)
			}
			return comparisons / n
		}
		marked := limits.WithIterations(checked.NativeRep())
		few, many := perIteration(marked, 20), perIteration(marked, 400)
		if few == 0 || many > few+1 {
			t.Errorf("%s: each of 20 iterations searches %d values, each of 400 iterations %d", source, few, many)
		}
		if perIteration(checked.NativeRep(), 400) > 10*many {
			growing++
		}
	}
	if growing < len(loops)/2 {
		t.Errorf("without WithIterations, the stack grows in %d of %d loops: this does not test it", growing, len(loops))
	}
}

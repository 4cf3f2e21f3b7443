// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package immutable

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Appends returns the IDs of the calls of + that append to the accumulators of comprehensions.
// These calls must change their first argument: otherwise a loop takes quadratic time. No
// expression can refer to the accumulator of a loop. What cel.bind() and optMap() name is the
// accumulator of a comprehension that has no step.
func Appends(e ast.Expr) sets.Set[int64] {
	calls := sets.Set[int64]{}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.ComprehensionKind {
			if id, ok := Append(e.AsComprehension()); ok {
				calls.Insert(id)
			}
		}
	}))
	return calls
}

// Append returns the ID of the call of + that appends to the accumulator of a comprehension. It
// returns false if the step of the comprehension does not append.
func Append(c ast.ComprehensionExpr) (id int64, ok bool) {
	step := c.LoopStep()
	if args := argsOf(step, operators.Conditional, 3); args != nil {
		step = args[1]
	}
	args := argsOf(step, operators.Add, 2)
	if args == nil || args[0].Kind() != ast.IdentKind || args[0].AsIdent() != c.AccuVar() {
		return 0, false
	}
	return step.ID(), true
}

// argsOf returns the arguments of a call of the function with n arguments, and nil for other
// expressions.
func argsOf(e ast.Expr, function string, n int) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != function || len(e.AsCall().Args()) != n {
		return nil
	}
	return e.AsCall().Args()
}

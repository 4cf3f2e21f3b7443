// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package immutable

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apimachinery/pkg/util/sets"

	"celador.io/admission/cel/internal/syntax"
)

// Appends returns the IDs of the calls of + that append to the accumulators of comprehensions.
// These calls must change their first argument: otherwise a loop takes quadratic time. Nothing sees
// the change, because no expression can name the accumulator of a loop. Expressions can name the
// accumulators of cel.bind() and optMap(), but those comprehensions do not loop.
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
	if branches := syntax.Branches(step); branches != nil {
		step = branches[1]
	}
	args := syntax.Args(step, operators.Add, 2)
	if args == nil || !syntax.IsIdent(args[0], c.AccuVar()) {
		return 0, false
	}
	return step.ID(), true
}

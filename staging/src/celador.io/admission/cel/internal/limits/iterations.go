// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"maps"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// iteration is the function that WithIterations calls with the step of each loop. It is not a valid
// CEL identifier, so no expression can call it.
const iteration = "#iteration"

// WithIterations returns a copy of a checked expression that cel-go evaluates in time linear in the
// number of iterations of its loops, in programs with the Decorator of the original expression.
// Values and costs do not change.
//
// cel-go's cost tracker keeps the values of subexpressions on a stack until an enclosing
// subexpression takes them, and it searches the whole stack for values that it has not kept. The
// conditions and steps of a loop have no such enclosing subexpression: their values stay on the
// stack to the end of the loop, and each iteration searches those of all iterations before. The
// copy ends each step with a call that takes the values of the iteration.
func WithIterations(checked *ast.AST) *ast.AST {
	id, factory := ast.MaxID(checked), ast.NewExprFactory()
	marked, references := factory.CopyExpr(checked.Expr()), maps.Clone(checked.ReferenceMap())
	ast.PostOrderVisit(marked, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind {
			return
		}
		c := e.AsComprehension()
		id++
		references[id] = ast.NewFunctionReference(iteration)
		e.SetKindCase(factory.NewComprehensionTwoVar(e.ID(), c.IterRange(), c.IterVar(), c.IterVar2(), c.AccuVar(), c.AccuInit(),
			c.LoopCondition(), factory.NewCall(id, iteration, c.LoopStep()), c.Result()))
	}))
	return ast.NewCheckedAST(ast.NewAST(marked, checked.SourceInfo()), checked.TypeMap(), references)
}

// noID is the ID of no subexpression.
const noID = -1

// newStep returns the implementation of a call of iteration. The call returns its only argument,
// the step of a loop, and makes cel-go's cost tracker drop the values of the iteration.
//
// To do so, the call shows the tracker two other arguments, for which the tracker searches its
// stack. The last one has the ID of the call: the tracker finds the value of the call in the
// iteration before, and drops everything above. It does not find the first one, and so charges
// nothing.
func newStep(call interpreter.InterpretableCall) interpreter.InterpretableCall {
	step := interpreter.NewCall(call.ID(), iteration, "", call.Args(), func(args ...ref.Val) ref.Val { return args[0] })
	return &callOf{step, []interpreter.InterpretableV2{
		interpreter.NewConstValue(noID, types.NullValue), interpreter.NewConstValue(call.ID(), types.NullValue),
	}}
}

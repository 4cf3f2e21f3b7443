// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// MaxNodes bounds the nodes of an expression whose macros copy their operands. The longest expression that the parser accepts
// has 130,000 nodes without copies.
const MaxNodes = 1 << 17

// boundMacros returns an environment whose macros return an error instead of an expression of more than MaxNodes nodes. optMap and optFlatMap
// copy their target, so that each call in a chain doubles the expression: thirty calls would fill the memory before anything is checked.
func boundMacros(env *cel.Env) (*cel.Env, error) {
	var bounded []cel.Macro
	for _, macro := range env.Macros() {
		switch macro.Function() {
		case "optMap", "optFlatMap":
			bounded = append(bounded, cel.ReceiverMacro(macro.Function(), macro.ArgCount(), bound(macro)))
		}
	}
	if len(bounded) == 0 {
		return env, nil
	}
	return env.Extend(cel.Macros(bounded...))
}

// bound returns the expander of a macro that copies its target.
func bound(macro cel.Macro) cel.MacroFactory {
	expand := macro.Expander()
	return func(factory cel.MacroExprFactory, target ast.Expr, arguments []ast.Expr) (ast.Expr, *cel.Error) {
		nodes, last := measure(target, 0, 0)
		// The parser numbers nodes in the order of their construction, so the last ID counts those of the expression so far.
		if int64(nodes)+last > MaxNodes {
			return nil, factory.NewError(target.ID(), fmt.Sprintf("the expression is too large: %s() copies the expression before it, "+
				"so that each call of a chain doubles it, and all copies together have more than %d parts. Write the calls into each other, as in "+
				"a.optMap(x, f(x).optMap(y, g(y))), or use several expressions", macro.Function(), MaxNodes))
		}
		return expand(factory, target, arguments)
	}
}

// measure returns the number of nodes of an expression, added to nodes, and the highest of their IDs and last. It stops above MaxNodes.
func measure(x ast.Expr, nodes int, last int64) (int, int64) {
	ast.PreOrderVisit(x, ast.NewExprVisitor(func(e ast.Expr) { nodes, last = nodes+1, max(last, e.ID()) }))
	return nodes, last
}

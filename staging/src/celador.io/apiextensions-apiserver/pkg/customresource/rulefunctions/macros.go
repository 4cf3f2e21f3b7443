// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// optionalMacros returns optMap and optFlatMap, which do not copy their target.
//
// The macros of cel-go copy it, so that each call in a chain doubles the expression and evaluates
// everything before it twice. Conversion rules and default rules, whose costs are not compared with
// those of Kubernetes, bind the target to a variable instead.
func optionalMacros() cel.EnvOption {
	return cel.Macros(
		cel.ReceiverMacro("optMap", 2, expand(func(factory cel.MacroExprFactory, mapped ast.Expr) ast.Expr {
			return factory.NewCall("optional.of", mapped)
		})),
		cel.ReceiverMacro("optFlatMap", 2, expand(func(_ cel.MacroExprFactory, mapped ast.Expr) ast.Expr { return mapped })),
	)
}

const (
	// target is the variable of the target. No expression can contain the name.
	target = "@target"
	unused = "#unused"
)

// expand returns the function that expands a macro such as target.optMap(v, e). If target has a
// value, the expansion evaluates e with that value as the variable v, and returns wrap(e): for
// optMap, an optional with the result, and for optFlatMap the result, which is an optional.
// Otherwise the expansion returns optional.none().
func expand(wrap func(cel.MacroExprFactory, ast.Expr) ast.Expr) cel.MacroFactory {
	return func(factory cel.MacroExprFactory, optional ast.Expr, arguments []ast.Expr) (ast.Expr, *cel.Error) {
		if arguments[0].Kind() != ast.IdentKind {
			return nil, factory.NewError(arguments[0].ID(), "the first argument of optMap() and optFlatMap() must be the name of a variable")
		}
		value := factory.NewMemberCall("value", factory.NewIdent(target))
		mapped := bind(factory, arguments[0].AsIdent(), value, arguments[1])
		return bind(factory, target, optional, factory.NewCall(operators.Conditional,
			factory.NewMemberCall("hasValue", factory.NewIdent(target)),
			wrap(factory, mapped),
			factory.NewCall("optional.none"),
		)), nil
	}
}

// bind returns an expression that evaluates another one with a variable, as cel.bind does.
func bind(factory cel.MacroExprFactory, name string, value, expression ast.Expr) ast.Expr {
	return factory.NewComprehension(factory.NewList(), unused, name, value, factory.NewLiteral(types.False), factory.NewIdent(name), expression)
}

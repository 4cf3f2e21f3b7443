// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"errors"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"celador.io/admission/cel/internal/syntax"
)

// optMap and optFlatMap copy their target, so that each call in a chain doubles the expression, and
// cel-go's type checker takes four times as long: 4 seconds and 1.6 GB for 10 calls, and a minute
// for 12. A request times out, and the checker goes on.
const (
	// maxParsed bounds the nodes of an expression while it is parsed: parsing is fast, but takes
	// memory.
	maxParsed = 1 << 17
	// maxCopied is the number of nodes that an expression of any length may have, so that short
	// ones may contain some copies. A chain of 10 calls has about 11,000.
	maxCopied = 1 << 14
	// nodesPerCharacter is the number of nodes that an expression may have for each of its
	// characters. An expression whose macros copy nothing has no more.
	nodesPerCharacter = 2
)

// CheckCopies returns an issue if the copies that optMap() and optFlatMap() make of their target
// let the tree of an expression grow so much that the type checker would take too long.
func CheckCopies(parsed *cel.Ast, source string) *cel.Issues {
	nodes, _ := measure(parsed.NativeRep().Expr())
	if nodes <= max(maxCopied, nodesPerCharacter*len(source)) {
		return nil
	}
	return syntax.NewIssue(parsed, parsed.NativeRep().Expr().ID(), tooLarge)
}

const tooLarge = "the expression is too large: optMap() and optFlatMap() copy the expression before them, so that each call of a chain doubles it. " +
	"Write the calls into each other, as in a.optMap(x, f(x).optMap(y, g(y))), or use several expressions"

// BoundMacros returns an environment whose optMap() and optFlatMap() return an error instead of an
// expression of more than maxParsed nodes: thirty calls would fill the memory.
func BoundMacros(env *cel.Env) (*cel.Env, error) {
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
		// The parser numbers nodes in order, so the last ID is the number of nodes of the
		// expression so far.
		if nodes, last := measure(target); int64(nodes)+last > maxParsed {
			return nil, factory.NewError(target.ID(), tooLarge)
		}
		return expand(factory, target, arguments)
	}
}

// measure returns the number of nodes of an expression and the highest of their IDs.
func measure(x ast.Expr) (nodes int, last int64) {
	ast.PreOrderVisit(x, ast.NewExprVisitor(func(e ast.Expr) { nodes, last = nodes+1, max(last, e.ID()) }))
	return nodes, last
}

// CheckNodes returns an error if the macros of an expression copy so much that cel-go would take
// too long to check it. It ignores all other errors.
func (p *Parser) CheckNodes(source string) error {
	_, issues := p.Parse(source)
	if slices.ContainsFunc(issues.Errors(), func(err *cel.Error) bool { return err.Message == tooLarge }) {
		return errors.New(tooLarge)
	}
	return nil
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/programs"
	"celador.io/admission/cel/internal/syntax"
)

// prepare changes each parsed expression before nulls are replaced. The expression is parsed up to
// two times, and prepare must change it in the same way each time.
func checkNullResults(builtins *programs.Builtins, env *cel.Env, source string, prepare func(parsed *cel.Ast)) (*cel.Ast, *cel.Issues, error) {
	found := false
	// Only the type check tells whether a branch is an optional already. For this first check,
	// dyn(null) replaces null, which conditionals accept beside any type.
	dynamic, issues, err := builtins.Check(env, source, func(parsed *cel.Ast) {
		prepare(parsed)
		if found = hasNullResult(parsed.NativeRep().Expr()); found {
			rewriteResults(parsed, func(r *rewriter, null ast.Expr) {
				null.SetKindCase(r.NewCall(null.ID(), "dyn", r.NewLiteral(r.newID(null), types.NullValue)))
			}, func(_ *rewriter, value ast.Expr) ast.Expr { return value })
		}
	})
	if !found || issues != nil || err != nil {
		return dynamic, issues, err
	}
	// The first check has changed the nodes, so the expression is parsed again. Its nodes have the
	// same IDs.
	return builtins.Check(env, source, func(parsed *cel.Ast) {
		prepare(parsed)
		rewriteResults(parsed, func(r *rewriter, null ast.Expr) {
			null.SetKindCase(r.NewCall(null.ID(), "optional.none"))
		}, func(r *rewriter, value ast.Expr) ast.Expr {
			if syntax.IsOptional(dynamic.NativeRep().GetType(value.ID())) {
				return value
			}
			return r.NewCall(r.newID(value), "optional.of", value)
		})
	})
}

// hasNullResult reports whether the literal null is a result of an expression.
func hasNullResult(e ast.Expr) bool {
	branches := syntax.Branches(e)
	return syntax.IsNull(e) || branches != nil && slices.ContainsFunc(branches[1:], hasNullResult)
}

// A rewriter replaces the results of an expression in its syntax tree, to make optionals of results
// that may be null. The results are the expression itself, or the branches of its conditionals.
type rewriter struct {
	*ast.AST
	ast.ExprFactory
	lastID int64
	// null replaces a result that is the literal null, in place.
	null func(r *rewriter, null ast.Expr)
	// value returns the replacement of a result that is not the literal null.
	value func(r *rewriter, value ast.Expr) ast.Expr
}

// rewriteResults rewrites the results of a parsed expression. See rewriter for null and value.
func rewriteResults(parsed *cel.Ast, null func(*rewriter, ast.Expr), value func(*rewriter, ast.Expr) ast.Expr) {
	tree := parsed.NativeRep()
	r := &rewriter{AST: tree, ExprFactory: ast.NewExprFactory(), lastID: ast.MaxID(tree), null: null, value: value}
	r.result(tree.Expr())
}

// result replaces the results of e and returns the replacement of e.
func (r *rewriter) result(e ast.Expr) ast.Expr {
	switch branches := syntax.Branches(e); {
	case syntax.IsNull(e):
		r.null(r, e)
	case branches != nil:
		e.SetKindCase(r.NewCall(e.ID(), operators.Conditional, branches[0], r.result(branches[1]), r.result(branches[2])))
	default:
		return r.value(r, e)
	}
	return e
}

// newID returns an ID for a node that has the position of another.
func (r *rewriter) newID(at ast.Expr) int64 {
	r.lastID++
	if position, ok := r.SourceInfo().GetOffsetRange(at.ID()); ok {
		r.SourceInfo().SetOffsetRange(r.lastID, position)
	}
	return r.lastID
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// A Rewriter makes nodes for the syntax tree of an expression. New nodes have the positions of
// those that they replace, so errors point into the author's text.
type Rewriter struct {
	*ast.AST
	ast.ExprFactory
	lastID int64
}

// NewRewriter returns a Rewriter for a tree.
func NewRewriter(tree *ast.AST) *Rewriter {
	return &Rewriter{AST: tree, ExprFactory: ast.NewExprFactory(), lastID: ast.MaxID(tree)}
}

// NewID returns an ID for a node that has the position of another.
func (r *Rewriter) NewID(at ast.Expr) int64 {
	r.lastID++
	if position, ok := r.SourceInfo().GetOffsetRange(at.ID()); ok {
		r.SourceInfo().SetOffsetRange(r.lastID, position)
	}
	return r.lastID
}

// RewriteResults rewrites the results of an expression: the expression itself, or the branches of
// the conditionals that form it. It calls null for each result that is the literal null; null
// changes the node in place. It calls value for each other result, and replaces a branch by the
// expression that value returns. An expression that is no conditional is not replaced.
func RewriteResults(tree *ast.AST, null func(*Rewriter, ast.Expr), value func(*Rewriter, ast.Expr) ast.Expr) {
	r := NewRewriter(tree)
	var rewrite func(e ast.Expr) ast.Expr
	rewrite = func(e ast.Expr) ast.Expr {
		switch branches := Branches(e); {
		case IsNull(e):
			null(r, e)
		case branches != nil:
			e.SetKindCase(r.NewCall(e.ID(), operators.Conditional, branches[0], rewrite(branches[1]), rewrite(branches[2])))
		default:
			return value(r, e)
		}
		return e
	}
	rewrite(r.Expr())
}

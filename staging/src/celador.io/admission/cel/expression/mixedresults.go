// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/programs"
	"celador.io/admission/cel/internal/syntax"
)

// checkMixed checks an expression again that cel-go has rejected, and returns it if its only fault
// is that the branches of a conditional have different types, each of which is one of returns.
// Otherwise it returns nil, and the caller reports cel-go's own errors.
func checkMixed(functions *programs.Builtins, env *cel.Env, source string, returns []*cel.Type) *cel.Ast {
	var results []int64
	checked, issues, err := functions.Check(env, source, func(parsed *cel.Ast) { results = mixResults(parsed) })
	if issues != nil || err != nil {
		return nil
	}
	if slices.ContainsFunc(results, func(id int64) bool { return !allows(returns, checked.NativeRep().GetType(id)) }) {
		return nil
	}
	return checked
}

// mixResults replaces each result x of an expression by dyn(x), because cel-go requires that the
// branches of a conditional have the same type. The results are the branches of the conditionals
// that form the expression, or else the expression itself. It returns their IDs, by which the
// caller checks their types.
func mixResults(parsed *cel.Ast) (results []int64) {
	syntax.RewriteResults(parsed.NativeRep(), func(r *syntax.Rewriter, null ast.Expr) {
		literal := r.NewLiteral(r.NewID(null), types.NullValue)
		results = append(results, literal.ID())
		null.SetKindCase(r.NewCall(null.ID(), "dyn", literal))
	}, func(r *syntax.Rewriter, value ast.Expr) ast.Expr {
		results = append(results, value.ID())
		return r.NewCall(r.NewID(value), "dyn", value)
	})
	return results
}

// unmixResults undoes mixResults, so that tools show the expression as its author wrote it. The
// nodes that remain keep their IDs.
func unmixResults(checked *ast.AST) {
	syntax.RewriteResults(checked, func(*syntax.Rewriter, ast.Expr) {}, func(_ *syntax.Rewriter, value ast.Expr) ast.Expr {
		return value.AsCall().Args()[0]
	})
}

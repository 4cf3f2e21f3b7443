// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/programs"
	"celador.io/admission/cel/internal/syntax"
)

// checkNullResults parses and checks an expression in which results may be null. It replaces the
// literal null by optional.none() where it is the result, or a branch of the conditionals that form
// the result. The other branches of these conditionals become optionals, too, unless they are: 'c ?
// x : null' becomes 'c ? optional.of(x) : optional.none()'.
//
// prepare changes each parsed expression before nulls are replaced. The expression is parsed up to
// two times, and prepare must change it in the same way each time.
func checkNullResults(builtins *programs.Builtins, env *cel.Env, source string, prepare func(parsed *cel.Ast)) (*cel.Ast, *cel.Issues, error) {
	found := false
	// Only the type check tells whether a branch is an optional already. For this first check,
	// dyn(null) replaces null, which conditionals accept beside any type.
	dynamic, issues, err := builtins.Check(env, source, func(parsed *cel.Ast) {
		prepare(parsed)
		if found = hasNullResult(parsed.NativeRep().Expr()); found {
			syntax.RewriteResults(parsed.NativeRep(), func(r *syntax.Rewriter, null ast.Expr) {
				null.SetKindCase(r.NewCall(null.ID(), "dyn", r.NewLiteral(r.NewID(null), types.NullValue)))
			}, func(_ *syntax.Rewriter, value ast.Expr) ast.Expr { return value })
		}
	})
	if !found || issues != nil || err != nil {
		return dynamic, issues, err
	}
	// The first check has changed the nodes, so the expression is parsed again. Its nodes have the
	// same IDs.
	return builtins.Check(env, source, func(parsed *cel.Ast) {
		prepare(parsed)
		syntax.RewriteResults(parsed.NativeRep(), func(r *syntax.Rewriter, null ast.Expr) {
			null.SetKindCase(r.NewCall(null.ID(), "optional.none"))
		}, func(r *syntax.Rewriter, value ast.Expr) ast.Expr {
			if syntax.IsOptional(dynamic.NativeRep().GetType(value.ID())) {
				return value
			}
			return r.NewCall(r.NewID(value), "optional.of", value)
		})
	})
}

// hasNullResult reports whether the literal null is a result of an expression.
func hasNullResult(e ast.Expr) bool {
	branches := syntax.Branches(e)
	return syntax.IsNull(e) || branches != nil && slices.ContainsFunc(branches[1:], hasNullResult)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// source is an expression as its author wrote it. It shows the calls of macros in place of their
// expansions.
type source struct{ checked *ast.AST }

// macro returns the call of a macro whose expansion e is.
func (s source) macro(e ast.Expr) (ast.CallExpr, bool) {
	call, found := s.checked.SourceInfo().GetMacroCall(e.ID())
	if !found {
		return nil, false
	}
	return call.AsCall(), true
}

// parts returns the parts of a node in the order of the source.
func (s source) parts(e ast.Expr) []ast.Expr {
	if macro, ok := s.macro(e); ok {
		return callParts(macro)
	}
	switch e.Kind() {
	case ast.CallKind:
		return callParts(e.AsCall())
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.StructKind:
		var parts []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			parts = append(parts, field.AsStructField().Value())
		}
		return parts
	default:
		return nil
	}
}

func callParts(call ast.CallExpr) []ast.Expr {
	if call.IsMemberFunction() {
		return append([]ast.Expr{call.Target()}, call.Args()...)
	}
	return call.Args()
}

// isConstant reports whether the expression reads no variable.
func (s source) isConstant(e ast.Expr) bool {
	return e.Kind() != ast.IdentKind && !slices.ContainsFunc(s.parts(e), func(part ast.Expr) bool { return !s.isConstant(part) })
}

// isBool reports whether a node is of type bool.
func (s source) isBool(e ast.Expr) bool { return s.checked.GetType(e.ID()).IsExactType(cel.BoolType) }

// text returns the node as CEL, in one line.
func (s source) text(e ast.Expr) string {
	text, err := cel.ExprToString(e, s.checked.SourceInfo())
	if err != nil {
		return "the expression"
	}
	return strings.Join(strings.Fields(text), " ")
}

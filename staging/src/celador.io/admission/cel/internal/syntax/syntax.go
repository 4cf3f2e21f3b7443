// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package syntax reads and rewrites the syntax trees of expressions. It recognizes, for example,
// literals, conditionals and the expansions of macros.
package syntax

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Text returns the value of a string literal. It returns false for other expressions.
func Text(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().(types.String)
	return string(text), ok
}

// IsNull reports whether an expression is the literal null.
func IsNull(e ast.Expr) bool { return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.NullValue }

// IsIdent reports whether an expression is a variable of the given name.
func IsIdent(e ast.Expr, name string) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == name }

// Operands returns the arguments of a call, after the target of a member function.
func Operands(call ast.CallExpr) []ast.Expr {
	if call.IsMemberFunction() {
		return append([]ast.Expr{call.Target()}, call.Args()...)
	}
	return call.Args()
}

// Args returns the arguments of a call of the function with exactly n arguments, without the target
// of a member function. It returns nil for all other expressions.
func Args(e ast.Expr, function string, n int) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != function || len(e.AsCall().Args()) != n {
		return nil
	}
	return e.AsCall().Args()
}

// Branches returns the condition and the two branches of a conditional, and nil for other
// expressions.
func Branches(e ast.Expr) []ast.Expr { return Args(e, operators.Conditional, 3) }

// Parts returns the elements of a list literal, the keys and values of a map literal, or the values
// of the fields of a constructed object.
func Parts(e ast.Expr) (parts []ast.Expr) {
	switch e.Kind() {
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			parts = append(parts, field.AsStructField().Value())
		}
	}
	return parts
}

// IsBinding reports whether a comprehension does not loop, but evaluates its result once with a
// variable, as the expansions of cel.bind() and optMap() do.
func IsBinding(c ast.ComprehensionExpr) bool {
	return c.IterRange().Kind() == ast.ListKind && c.IterRange().AsList().Size() == 0
}

// Collected returns the item that each iteration of map() or filter() adds to the result. condition
// is the condition for adding it; nil means that each iteration does. Collected returns false for
// other comprehensions.
func Collected(c ast.ComprehensionExpr) (item, condition ast.Expr, ok bool) {
	sum := c.LoopStep()
	if branches := Branches(sum); branches != nil && IsIdent(branches[2], c.AccuVar()) {
		condition, sum = branches[0], branches[1]
	}
	operands := Args(sum, operators.Add, 2)
	if operands == nil || !IsIdent(operands[0], c.AccuVar()) || !IsIdent(c.Result(), c.AccuVar()) || operands[1].Kind() != ast.ListKind {
		return nil, nil, false
	}
	added := operands[1].AsList()
	if added.Size() != 1 || len(added.OptionalIndices()) > 0 {
		return nil, nil, false
	}
	return added.Elements()[0], condition, true
}

// Contains reports whether an expression or one of its subexpressions satisfies a condition.
func Contains(e ast.Expr, satisfies func(ast.Expr) bool) (found bool) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) { found = found || satisfies(e) }))
	return found
}

// IsOptional reports whether a type is an optional.
func IsOptional(t *types.Type) bool { return t.TypeName() == types.OptionalType.TypeName() }

// NewIssues returns an empty list of issues of an expression, to which ReportErrorAtID adds errors.
func NewIssues(parsed *cel.Ast) *cel.Issues {
	return cel.NewIssuesWithSourceInfo(common.NewErrors(parsed.Source()), parsed.NativeRep().SourceInfo())
}

// AnyIssues returns issues, or nil if there are no errors.
func AnyIssues(issues *cel.Issues) *cel.Issues {
	if issues.Err() == nil {
		return nil
	}
	return issues
}

// NewIssue returns one issue at a subexpression.
func NewIssue(parsed *cel.Ast, id int64, message string, args ...any) *cel.Issues {
	issues := NewIssues(parsed)
	issues.ReportErrorAtID(id, message, args...)
	return issues
}

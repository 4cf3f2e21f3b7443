// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package parser

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	celparser "github.com/google/cel-go/parser"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
)

// A Parser parses the expressions of an environment, and of those that extend it with variables and
// types only. It is immutable and safe for concurrent use.
type Parser struct {
	env *cel.Env
	// macros holds the macros by their names.
	macros map[string][]cel.Macro
	// optionals is set if expressions may contain .? and [?].
	optionals bool
}

// New returns a parser with the macros of an environment, as BoundMacros returns it.
func New(env *cel.Env) *Parser {
	p := &Parser{env: env, macros: map[string][]cel.Macro{}, optionals: env.HasLibrary("cel.lib.optional")}
	for _, macro := range env.Macros() {
		p.macros[macro.Function()] = append(p.macros[macro.Function()], macro)
	}
	return p
}

// maxSize is the length of the longest expression that a Parser accepts. It is lower than the limit
// of cel-go's parser, 100,000.
const maxSize = 1 << 14

// declined is the value with which parsing panics to decline an expression.
type declined struct{}

// Parse returns the tree of an expression, or issues if its syntax is invalid or if its macros copy
// too much.
func (p *Parser) Parse(source string) (*cel.Ast, *cel.Issues) {
	if parsed, ok := p.Accept(source); ok {
		return parsed, nil
	}
	parsed, issues := p.env.Parse(source)
	if issues != nil {
		return nil, issues
	}
	return parsed, CheckCopies(parsed, source)
}

// Accept returns the tree of an expression, or false if the parser declines it.
func (p *Parser) Accept(source string) (parsed *cel.Ast, ok bool) {
	if len(source) > maxSize {
		return nil, false
	}
	tokens, ok := lex(source)
	if !ok {
		return nil, false
	}
	defer func() {
		if r := recover(); r != nil {
			if _, isDeclined := r.(declined); !isDeclined {
				panic(r)
			}
			parsed, ok = nil, false
		}
	}()
	t := &tree{
		Parser:  p,
		source:  source,
		tokens:  tokens,
		factory: ast.NewExprFactoryWithAccumulator(celparser.HiddenAccumulatorName),
	}
	root := t.expression()
	if t.peek().kind != end {
		return nil, false
	}
	return t.finish(root), true
}

// finish returns the tree in the form that cel-go checks.
func (t *tree) finish(root ast.Expr) *cel.Ast {
	source := common.NewTextSource(t.source)
	// cel-go has no exported function that makes a *cel.Ast of an ast.Expr, only one that makes it
	// of the protobuf form. Make the *cel.Ast of a placeholder, then set its root and positions.
	parsed := cel.ParsedExprToAstWithSource(&exprpb.ParsedExpr{
		Expr:       &exprpb.Expr{Id: root.ID(), ExprKind: &exprpb.Expr_IdentExpr{IdentExpr: &exprpb.Expr_Ident{}}},
		SourceInfo: &exprpb.SourceInfo{Location: source.Description(), LineOffsets: source.LineOffsets()},
	}, source)
	native := parsed.NativeRep()
	native.Expr().SetKindCase(root)
	for i, position := range t.positions {
		if position != removed {
			native.SourceInfo().SetOffsetRange(int64(i+1), position)
		}
	}
	return parsed
}

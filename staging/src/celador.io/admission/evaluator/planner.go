// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Scope says what the names of an expression stand for, other than itself.
type Scope struct {
	// Variables is the name of the object whose fields are the variables of the policy.
	Variables string
	// Positions maps the names of the policy's variables to their positions. If several
	// variables have the same name, the position is that of the last.
	Positions map[string]int
}

// Plan returns a program for a checked expression. The error says what is in it that
// only cel-go can evaluate.
func Plan(env *cel.Env, checked *cel.Ast, library *Library, scope Scope) (*Program, error) {
	p := &planner{
		AST:       checked.NativeRep(),
		library:   library,
		provider:  env.CELTypeProvider(),
		scope:     scope,
		described: map[int64]described{},
	}
	seen, repeated := p.ids()
	if repeated {
		return nil, errors.New("not supported: repeated expression")
	}
	p.shares = seen <= maxSharedSize
	n, err := p.complete(p.Expr())
	if err != nil {
		return nil, err
	}
	return &Program{eval: n.eval, slots: p.slots, parts: p.parts}, nil
}

// maxSharedSize is the maximum number of parts of an expression whose parts are shared with
// other programs. Longer expressions have few parts in common with others, and would add
// thousands of entries.
const maxSharedSize = 1000

// ids returns the number of parts of the expression, and whether an ID occurs twice. cel-go
// tracks costs by ID, so its costs are hard to reproduce where a macro repeats a part.
func (p *planner) ids() (count int, repeated bool) {
	seen := make([]bool, ast.MaxID(p.AST))
	ast.PreOrderVisit(p.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		count++
		repeated = repeated || seen[e.ID()]
		seen[e.ID()] = true
	}))
	return count, repeated
}

// node is a planned part of an expression.
type node struct {
	// eval is nil for an attribute that further selections may extend.
	eval step
	// constant is the value, if that is known.
	constant ref.Val
	// attribute is set for what may be selected from without a value in between.
	attribute *attribute
}

func constant(value ref.Val) node {
	return node{eval: func(*frame) ref.Val { return value }, constant: value}
}

type planner struct {
	*ast.AST
	library  *Library
	provider types.Provider
	scope    Scope
	// locals are the variables of the comprehensions around, innermost last.
	locals []local
	slots  int
	// parts are those that were planned last, on the level that is being planned.
	parts []*part
	// shares is set if parts are shared with other programs. described holds their keys, by
	// expression ID.
	shares    bool
	described map[int64]described
}

func unsupported(format string, args ...any) (node, error) {
	return node{}, fmt.Errorf("not supported: "+format, args...)
}

// complete plans an expression and returns a node that can be evaluated on its own.
func (p *planner) complete(e ast.Expr) (node, error) {
	n, err := p.build(e)
	if err == nil && n.eval == nil {
		n.eval = n.attribute.observed()
	}
	return n, err
}

func (p *planner) build(e ast.Expr) (node, error) {
	switch e.Kind() {
	case ast.LiteralKind:
		return constant(e.AsLiteral()), nil
	case ast.IdentKind:
		return p.ident(e)
	case ast.SelectKind:
		return p.selection(e)
	case ast.CallKind:
		return p.call(e)
	case ast.ListKind:
		return p.list(e.AsList())
	case ast.MapKind:
		return p.mapping(e.AsMap())
	case ast.ComprehensionKind:
		return p.comprehension(e.AsComprehension())
	default:
		return unsupported("expression of kind %v", e.Kind())
	}
}

func (p *planner) all(exprs []ast.Expr) ([]node, error) {
	nodes := make([]node, len(exprs))
	for i, e := range exprs {
		var err error
		if nodes[i], err = p.plan(e); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// reference returns the name that the checker resolved an expression to, if any.
func (p *planner) reference(e ast.Expr) (*ast.ReferenceInfo, bool) {
	reference, ok := p.ReferenceMap()[e.ID()]
	return reference, ok
}

func (p *planner) ident(e ast.Expr) (node, error) {
	reference, ok := p.reference(e)
	if !ok {
		return unsupported("unchecked name")
	}
	return p.referred(e, reference)
}

func (p *planner) referred(e ast.Expr, reference *ast.ReferenceInfo) (node, error) {
	name := reference.Name
	switch {
	case reference.Value != nil:
		return constant(reference.Value), nil
	case p.GetType(e.ID()).Kind() == types.TypeKind:
		named, found := p.provider.FindIdent(name)
		if !found {
			return unsupported("type %s", name)
		}
		return constant(named), nil
	case strings.HasPrefix(name, "."):
		return unsupported("name with a leading dot")
	}
	if l, ok := p.local(name); ok {
		return (&attribute{base: l.read(), own: 1}).node(), nil
	}
	if name == p.scope.Variables {
		return unsupported("%s as a whole", name)
	}
	return (&attribute{base: p.variable(name), own: 1}).node(), nil
}

// variable reads what is in scope of the whole expression.
func (p *planner) variable(name string) step {
	adapter := p.library.adapter
	return func(f *frame) ref.Val {
		resolved, ok := f.input.ResolveName(name)
		if !ok {
			return nil
		}
		value, ok := resolved.(ref.Val)
		if !ok {
			value = adapter.NativeToValue(resolved)
		}
		return plain(value)
	}
}

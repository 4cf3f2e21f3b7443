// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/fingerprint"
)

// A Scope describes what an expression may use other than the variables of its environment: the
// variables of a policy, which it reads as fields of an object, and the types that it constructs.
type Scope struct {
	// Variables is the name of the object whose fields are the policy's variables. If it is empty,
	// the expression has no access to variables.
	Variables string
	// Positions maps the names of the policy's variables to their positions. For a name that
	// several variables have, it holds the position of the last.
	Positions map[string]int
	// Constructor resolves the types of objects that the expression constructs. Closures keep it in
	// memory. If it is nil, the evaluator does not support such expressions.
	Constructor types.Provider
}

// Plan returns the closures of an expression that env has checked. library must be made from env or
// an environment that env extends. Plan returns an error that names the first construct that only
// cel-go can evaluate.
func Plan(env *cel.Env, checked *cel.Ast, library *Library, scope Scope) (planned *Closures, err error) {
	p := &planner{
		AST:      checked.NativeRep(),
		library:  library,
		provider: env.CELTypeProvider(),
		scope:    scope,
		keys:     map[int64]*planKey{},
	}
	seen, repeated := p.ids()
	if repeated {
		return nil, unsupported("repeated expression")
	}
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case declined:
			err = cause
		default:
			panic(cause)
		}
	}()
	p.shares = seen <= maxSharedSize
	n := p.complete(p.Expr())
	return &Closures{eval: n.eval, slots: p.slots, plans: p.plans}, nil
}

// maxSharedSize is the maximum number of subexpressions of an expression that shares the closures
// of equal subexpressions with other expressions (sharedPlan). Longer expressions have little in
// common with others, and would add thousands of entries to the plans that the library keeps.
const maxSharedSize = 1000

// ids counts the subexpressions and reports whether an ID occurs twice. cel-go tracks costs by ID,
// so its costs are hard to reproduce where a macro repeats a subexpression.
func (p *planner) ids() (count int, repeated bool) {
	seen := make([]bool, ast.MaxID(p.AST))
	ast.PreOrderVisit(p.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		count++
		repeated = repeated || seen[e.ID()]
		seen[e.ID()] = true
	}))
	return count, repeated
}

// A node is a planned subexpression.
type node struct {
	// eval is nil for an attribute that a further selection may extend.
	eval closure
	// constant is the value of a constant expression, or nil.
	constant ref.Val
	// attribute is set for variables, selections, indexes and conditionals. A further selection
	// extends the attribute instead of selecting from its value, so a path of many selections gets
	// one closure instead of one for each prefix.
	attribute *attribute
}

func constant(value ref.Val) node {
	fingerprint.Kept(value)
	return node{eval: func(*frame) ref.Val { return value }, constant: value}
}

type planner struct {
	*ast.AST
	library  *Library
	provider types.Provider
	scope    Scope
	// locals holds the variables of the enclosing comprehensions, innermost last.
	locals []local
	slots  int
	// appends is the ID of the call of + with which the innermost comprehension appends to its
	// accumulator, or 0 if it does not append. Only this call may change its first argument, so it
	// gets another implementation than other calls of + (Library.appending).
	appends int64
	// plans collects the shared plans that the current subexpression uses.
	plans []*sharedPlan
	// shares is set if the subexpressions may share their closures with those of other expressions.
	// keys caches the keys by which equal subexpressions are found, by expression ID.
	shares bool
	keys   map[int64]*planKey
}

// declined is the error with which planning panics at a construct that only cel-go can evaluate.
type declined struct{ error }

func unsupported(format string, args ...any) declined {
	return declined{fmt.Errorf("not supported: "+format, args...)}
}

// complete plans an expression and returns a node that can be evaluated on its own.
func (p *planner) complete(e ast.Expr) node {
	n := p.build(e)
	if n.eval == nil {
		n.eval = n.attribute.resolve(n.attribute.own)
	}
	return n
}

func (p *planner) build(e ast.Expr) node {
	switch e.Kind() {
	case ast.LiteralKind:
		return constant(e.AsLiteral())
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
	case ast.StructKind:
		return p.object(e.AsStruct())
	case ast.ComprehensionKind:
		return p.comprehension(e.AsComprehension())
	default:
		panic(unsupported("expression of kind %v", e.Kind()))
	}
}

func (p *planner) planAll(exprs []ast.Expr) []node {
	nodes := make([]node, len(exprs))
	for i, e := range exprs {
		nodes[i] = p.plan(e)
	}
	return nodes
}

// reference returns the declaration that the checker resolved an expression to, if any.
func (p *planner) reference(e ast.Expr) (*ast.ReferenceInfo, bool) {
	reference, ok := p.ReferenceMap()[e.ID()]
	return reference, ok
}

func (p *planner) ident(e ast.Expr) node {
	reference, ok := p.reference(e)
	if !ok {
		panic(unsupported("unchecked name"))
	}
	return p.resolved(e, reference)
}

func (p *planner) resolved(e ast.Expr, reference *ast.ReferenceInfo) node {
	name := reference.Name
	switch {
	case reference.Value != nil:
		return constant(reference.Value)
	case p.GetType(e.ID()).Kind() == types.TypeKind:
		named, found := p.provider.FindIdent(name)
		if !found {
			panic(unsupported("type %s", name))
		}
		return constant(named)
	case strings.HasPrefix(name, "."):
		panic(unsupported("name with a leading dot"))
	}
	if l, ok := p.local(name); ok {
		return node{attribute: &attribute{base: l.read(), item: l.init == nil, slot: l.slot, own: 1}}
	}
	if name == p.scope.Variables {
		panic(unsupported("%s as a whole", name))
	}
	return node{attribute: &attribute{base: p.variable(name), own: 1}}
}

// variable returns a closure that reads a variable of the environment, such as object.
func (p *planner) variable(name string) closure {
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

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/syntax"
)

// A sharedPlan holds the closures of a subexpression that several expressions contain. Hundreds of
// policies often repeat the same subexpressions; sharing their closures keeps them in the
// processor's caches, which saves an eighth of what 100 policies add to a request of a server.
// plans keeps the shared plans of its operands in memory, to which the library refers weakly.
type sharedPlan struct {
	node
	plans []*sharedPlan
}

// A planKey identifies a subexpression by everything that its plan depends on. Subexpressions with
// equal keys have equal plans. The key is a hash over the keys of the operands, so computing the
// keys of an expression takes time and memory linear in its size.
type planKey [sha256.Size]byte

// plan plans a subexpression: it returns the node that evaluates it. It reuses the node of an equal
// subexpression of any expression that the library has planned and that is still in use.
func (p *planner) plan(e ast.Expr) node {
	if e.Kind() == ast.LiteralKind || !p.shares {
		return p.complete(e)
	}
	key := p.key(e)
	if key == nil {
		return p.complete(e)
	}
	if shared := p.library.plans.Find(*key); shared != nil {
		p.plans = append(p.plans, shared)
		return shared.node
	}
	outer := p.plans
	p.plans = nil
	n := p.complete(e)
	plan := &sharedPlan{node: n, plans: p.plans}
	p.library.plans.Add(*key, plan)
	p.plans = append(outer, plan)
	return n
}

// key returns the key of a subexpression, or nil if its plan cannot be shared. A subexpression with
// a comprehension is not shared, because its slots belong to one program.
func (p *planner) key(e ast.Expr) *planKey {
	key, ok := p.keys[e.ID()]
	if !ok {
		if input := p.keyInput(e); input != nil {
			key = new(planKey(sha256.Sum256(input)))
		}
		p.keys[e.ID()] = key
	}
	return key
}

// keyInput returns the text whose hash is the key of a subexpression. It returns nil for a
// subexpression that cannot be shared.
func (p *planner) keyInput(e ast.Expr) []byte {
	key := make([]byte, 0, 2*sha256.Size)
	switch e.Kind() {
	case ast.LiteralKind:
		return appendConstant(key, e.AsLiteral())
	case ast.IdentKind:
		if reference, ok := p.reference(e); ok {
			return p.referenceInput(key, e, reference)
		}
	case ast.SelectKind:
		if reference, ok := p.reference(e); ok {
			return p.referenceInput(key, e, reference)
		}
		selected := e.AsSelect()
		if i, ok := p.policyVariable(selected); ok {
			return fmt.Appendf(key, "$%d", i)
		}
		form := "."
		if selected.IsTestOnly() {
			form = "?"
		}
		return p.appendKeys(fmt.Appendf(key, "%s%q ", form, selected.FieldName()), selected.Operand())
	case ast.CallKind:
		call := e.AsCall()
		key = fmt.Appendf(key, "(%q ", call.FunctionName())
		if reference, ok := p.reference(e); ok {
			key = fmt.Appendf(key, "%q ", reference.OverloadIDs)
		}
		return p.appendKeys(key, syntax.Operands(call)...)
	case ast.ListKind:
		list := e.AsList()
		return p.appendKeys(fmt.Appendf(key, "[%v ", list.OptionalIndices()), list.Elements()...)
	}
	return nil
}

// appendKeys appends the keys of subexpressions. The keys have a fixed length, so the result is
// unambiguous. It returns nil if a subexpression cannot be shared.
func (p *planner) appendKeys(key []byte, exprs ...ast.Expr) []byte {
	for _, e := range exprs {
		own := p.key(e)
		if own == nil {
			return nil
		}
		key = append(key, own[:]...)
	}
	return key
}

func (p *planner) referenceInput(key []byte, e ast.Expr, reference *ast.ReferenceInfo) []byte {
	if reference.Value != nil {
		return appendConstant(key, reference.Value)
	}
	// Plan takes a name whose static type is a type for that type, even if a local variable has the
	// same name, so the key is that of the type (method resolved).
	if p.GetType(e.ID()).Kind() == types.TypeKind {
		return fmt.Appendf(key, "type %q", reference.Name)
	}
	l, isLocal := p.local(reference.Name)
	switch {
	case !isLocal:
		return fmt.Appendf(key, "%q", reference.Name)
	case l.init == nil:
		return fmt.Appendf(key, "#%d", l.slot)
	default:
		return nil
	}
}

func appendConstant(key []byte, value ref.Val) []byte {
	return fmt.Appendf(key, "%s:%v", value.Type().TypeName(), value.Value())
}

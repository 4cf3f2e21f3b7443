// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// part is a planned part that all programs share whose expressions have the same in
// them. A request that hundreds of policies are evaluated for has little else in the
// processor's caches.
type part struct {
	node
	parts []*part
}

// partKey identifies a part by everything that its plan depends on. Equal parts have equal
// keys. The key of a part is a hash over the keys of its operands, so describing an expression
// takes time and memory linear in its size.
type partKey [sha256.Size]byte

// described is the key of a part, with a flag for parts that cannot be shared.
type described struct {
	partKey
	shared bool
}

// plan returns the node of a part of the expression, planned now or for another program.
func (p *planner) plan(e ast.Expr) (node, error) {
	if e.Kind() == ast.LiteralKind || !p.shares {
		return p.complete(e)
	}
	key := p.describe(e)
	if !key.shared {
		return p.complete(e)
	}
	if known := p.library.parts.Find(key.partKey); known != nil {
		p.parts = append(p.parts, known)
		return known.node, nil
	}
	around := p.parts
	p.parts = nil
	n, err := p.complete(e)
	if err != nil {
		return node{}, err
	}
	made := &part{node: n, parts: p.parts}
	p.library.parts.Add(key.partKey, made)
	p.parts = append(around, made)
	return n, nil
}

// describe returns the key of a part. A part with a comprehension is not shared, because its
// slots belong to one program.
func (p *planner) describe(e ast.Expr) described {
	known, ok := p.described[e.ID()]
	if !ok {
		if key, shared := p.write(e); shared {
			known = described{sha256.Sum256(key), true}
		}
		p.described[e.ID()] = known
	}
	return known
}

// write returns the hash input of a part, which only equal parts have in common. It returns
// false for a part that cannot be shared.
func (p *planner) write(e ast.Expr) ([]byte, bool) {
	key := make([]byte, 0, 2*sha256.Size)
	switch e.Kind() {
	case ast.LiteralKind:
		return writeConstant(key, e.AsLiteral()), true
	case ast.IdentKind:
		reference, ok := p.reference(e)
		if !ok {
			return nil, false
		}
		return p.writeReference(key, e, reference)
	case ast.SelectKind:
		if reference, ok := p.reference(e); ok {
			return p.writeReference(key, e, reference)
		}
		selected := e.AsSelect()
		if i, ok := p.policyVariable(selected); ok {
			return fmt.Appendf(key, "$%d", i), true
		}
		form := "."
		if selected.IsTestOnly() {
			form = "?"
		}
		return p.writeAll(fmt.Appendf(key, "%s%q ", form, selected.FieldName()), selected.Operand())
	case ast.CallKind:
		call := e.AsCall()
		key = fmt.Appendf(key, "(%q ", call.FunctionName())
		if reference, ok := p.reference(e); ok {
			key = fmt.Appendf(key, "%q ", reference.OverloadIDs)
		}
		if call.IsMemberFunction() {
			var shared bool
			if key, shared = p.writeAll(key, call.Target()); !shared {
				return nil, false
			}
		}
		return p.writeAll(key, call.Args()...)
	case ast.ListKind:
		list := e.AsList()
		return p.writeAll(fmt.Appendf(key, "[%v ", list.OptionalIndices()), list.Elements()...)
	default:
		return nil, false
	}
}

// writeAll appends the keys of parts. The keys have a fixed length, so the result is
// unambiguous.
func (p *planner) writeAll(key []byte, parts ...ast.Expr) ([]byte, bool) {
	for _, e := range parts {
		d := p.describe(e)
		if !d.shared {
			return nil, false
		}
		key = append(key, d.partKey[:]...)
	}
	return key, true
}

func (p *planner) writeReference(key []byte, e ast.Expr, reference *ast.ReferenceInfo) ([]byte, bool) {
	if reference.Value != nil {
		return writeConstant(key, reference.Value), true
	}
	if l, ok := p.local(reference.Name); ok {
		return fmt.Appendf(key, "#%d", l.slot), l.init == nil
	}
	return fmt.Appendf(key, "%t%q", p.GetType(e.ID()).Kind() == types.TypeKind, reference.Name), true
}

func writeConstant(key []byte, value ref.Val) []byte {
	return fmt.Appendf(key, "%s:%v", value.Type().TypeName(), value.Value())
}

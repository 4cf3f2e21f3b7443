// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"fmt"
	"strconv"
	"strings"

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

// plan returns the node of a part of the expression, planned now or for another program.
func (p *planner) plan(e ast.Expr) (node, error) {
	var key strings.Builder
	if e.Kind() == ast.LiteralKind || !p.describe(e, &key) {
		return p.build(e)
	}
	if known := p.library.parts.Find(key.String()); known != nil {
		p.parts = append(p.parts, known)
		return known.node, nil
	}
	around := p.parts
	p.parts = nil
	n, err := p.build(e)
	if err != nil {
		return node{}, err
	}
	made := &part{node: n, parts: p.parts}
	p.library.parts.Add(key.String(), made)
	p.parts = append(around, made)
	return n, nil
}

// describe writes a key that equal parts have in common and no others. It returns false
// for a part that has a comprehension in it, whose slots are its own.
func (p *planner) describe(e ast.Expr, key *strings.Builder) bool {
	switch e.Kind() {
	case ast.LiteralKind:
		describeConstant(e.AsLiteral(), key)
		return true
	case ast.IdentKind:
		reference, ok := p.reference(e)
		return ok && p.describeReference(e, reference, key)
	case ast.SelectKind:
		if reference, ok := p.reference(e); ok {
			return p.describeReference(e, reference, key)
		}
		selected := e.AsSelect()
		if i, ok := p.policyVariable(selected); ok {
			fmt.Fprintf(key, "$%d", i)
			return true
		}
		form := "."
		if selected.IsTestOnly() {
			form = "?"
		}
		fmt.Fprintf(key, "(%s%q ", form, selected.FieldName())
		return p.describe(selected.Operand(), key) && closed(key)
	case ast.CallKind:
		call := e.AsCall()
		fmt.Fprintf(key, "(%q ", call.FunctionName())
		if reference, ok := p.reference(e); ok {
			fmt.Fprintf(key, "%q ", reference.OverloadIDs)
		}
		if call.IsMemberFunction() && !p.describe(call.Target(), key) {
			return false
		}
		return p.describeAll(call.Args(), key) && closed(key)
	case ast.ListKind:
		list := e.AsList()
		fmt.Fprintf(key, "[%v ", list.OptionalIndices())
		return p.describeAll(list.Elements(), key) && closed(key)
	default:
		return false
	}
}

func (p *planner) describeAll(exprs []ast.Expr, key *strings.Builder) bool {
	for _, e := range exprs {
		if !p.describe(e, key) {
			return false
		}
		key.WriteByte(',')
	}
	return true
}

func (p *planner) describeReference(e ast.Expr, reference *ast.ReferenceInfo, key *strings.Builder) bool {
	if reference.Value != nil {
		describeConstant(reference.Value, key)
		return true
	}
	if l, ok := p.local(reference.Name); ok {
		fmt.Fprintf(key, "#%d", l.slot)
		return l.init == nil
	}
	fmt.Fprintf(key, "%t%q", p.GetType(e.ID()).Kind() == types.TypeKind, reference.Name)
	return true
}

func describeConstant(value ref.Val, key *strings.Builder) {
	key.WriteString(value.Type().TypeName())
	key.WriteByte(':')
	if text, ok := value.(types.String); ok {
		key.WriteString(strconv.Quote(string(text)))
		return
	}
	fmt.Fprintf(key, "%v", value.Value())
}

func closed(key *strings.Builder) bool {
	key.WriteByte(')')
	return true
}

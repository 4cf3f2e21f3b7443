// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// reader rewrites an expression so that objects are read as maps where something failed.
type reader struct {
	ast.ExprFactory
	objects map[string]object
	types   map[int64]*types.Type
	failed  map[int64]bool
	mix     bool
	lastID  int64
	// known are the IDs of the expression as it was.
	known map[int64]bool
	// replaced are the IDs that what is now part of something else had before.
	replaced map[int64]int64
}

// originals returns the IDs that the nodes of the given IDs had at first.
func (r *reader) originals(ids map[int64]bool) map[int64]bool {
	originals := map[int64]bool{}
	for id := range ids {
		if before, ok := r.replaced[id]; ok {
			id = before
		}
		originals[id] = true
	}
	return originals
}

// knows tells whether all of the IDs are those of the expression as it was.
func (r *reader) knows(ids map[int64]bool) bool {
	for id := range ids {
		if !r.known[id] {
			return false
		}
	}
	return true
}

// VisitEntryExpr implements ast.Visitor.
func (r *reader) VisitEntryExpr(e ast.EntryExpr) { r.known[e.ID()] = true }

// VisitExpr implements ast.Visitor. What is inside has been visited.
func (r *reader) VisitExpr(e ast.Expr) {
	r.known[e.ID()] = true
	switch e.Kind() {
	case ast.CallKind:
		if call := e.AsCall(); r.failed[e.ID()] {
			r.visitCall(call)
		}
	case ast.ListKind:
		optional := e.AsList().OptionalIndices()
		r.visitElements(e.AsList().Elements(), func(i int) bool { return slices.Contains(optional, int32(i)) })
	case ast.MapKind:
		entries := e.AsMap().Entries()
		var values []ast.Expr
		for _, entry := range entries {
			values = append(values, entry.AsMapEntry().Value())
		}
		r.visitElements(values, func(i int) bool { return entries[i].AsMapEntry().IsOptional() })
	case ast.ComprehensionKind:
		if values := e.AsComprehension().IterRange(); r.failed[values.ID()] {
			r.replace(values, r.asMaps)
		}
	}
}

func (r *reader) visitCall(call ast.CallExpr) {
	function := call.FunctionName()
	if function == operators.OptSelect {
		// A map has all fields, but a field that an object does not have stays missing.
		return
	}
	if call.IsMemberFunction() {
		r.replace(call.Target(), r.asMaps)
	}
	for i, arg := range call.Args() {
		switch {
		case function == operators.Conditional && i == 0:
			// Not one of the alternatives.
		case function == operators.Conditional || function == "orValue":
			r.replace(arg, r.asAlternative)
		default:
			r.replace(arg, r.asMaps)
		}
	}
}

// visitElements takes values that belong together, any of which may have failed because of
// another. Some are there only if they are optional values that have one.
func (r *reader) visitElements(values []ast.Expr, optional func(int) bool) {
	if !slices.ContainsFunc(values, func(e ast.Expr) bool { return r.failed[e.ID()] }) {
		return
	}
	for i, value := range values {
		if r.mix && optional(i) {
			r.replace(value, r.asOptional)
		} else {
			r.replace(value, r.asElement)
		}
	}
}

// replace replaces an expression by one that contains it, unless that is nil.
func (r *reader) replace(e ast.Expr, by func(*types.Type, ast.Expr) ast.Expr) {
	inner := r.NewUnspecifiedExpr(r.id())
	inner.SetKindCase(e)
	if outer := by(r.types[e.ID()], inner); outer != nil {
		e.SetKindCase(outer)
		r.replaced[inner.ID()] = e.ID()
	}
}

// asMaps returns nil for types without objects.
func (r *reader) asMaps(t *types.Type, e ast.Expr) ast.Expr {
	switch t.Kind() {
	case types.StructKind:
		if _, ok := r.objects[t.TypeName()]; ok || isConstructor(t.TypeName()) {
			return r.mapOf(r.NewCall(r.id(), "dyn", e))
		}
	case types.ListKind:
		if element := r.asMaps(t.Parameters()[0], e); element != nil {
			return r.NewList(r.id(), []ast.Expr{element}, nil)
		}
	case types.MapKind:
		if value := r.asMaps(t.Parameters()[1], e); value != nil {
			return r.mapOf(value)
		}
	case types.OpaqueKind:
		if isOptional(t) {
			if value := r.asMaps(t.Parameters()[0], e); value != nil {
				return r.NewCall(r.id(), "optional.of", value)
			}
		}
	}
	return nil
}

func isOptional(t *types.Type) bool {
	return t.Kind() == types.OpaqueKind && t.TypeName() == types.OptionalType.TypeName()
}

func (r *reader) mapOf(value ast.Expr) ast.Expr {
	key := r.NewLiteral(r.id(), types.String(""))
	return r.NewMap(r.id(), []ast.EntryExpr{r.NewMapEntry(r.id(), key, value, false)})
}

// asElement returns nil for types that have to be those of the other elements.
func (r *reader) asElement(t *types.Type, e ast.Expr) ast.Expr {
	if r.mix {
		return r.NewCall(r.id(), "dyn", e)
	}
	return r.asMaps(t, e)
}

func (r *reader) asOptional(_ *types.Type, e ast.Expr) ast.Expr {
	return r.NewCall(r.id(), "optional.of", r.NewCall(r.id(), "dyn", e))
}

// asAlternative returns nil for types that have to be those of the other alternatives.
func (r *reader) asAlternative(t *types.Type, e ast.Expr) ast.Expr {
	if t.Kind() == types.NullTypeKind {
		return r.NewCall(r.id(), "dyn", e)
	}
	return r.asElement(t, e)
}

func (r *reader) id() int64 {
	r.lastID++
	return r.lastID
}

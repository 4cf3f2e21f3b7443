// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// recheck returns the issues of an expression that remain if objects are used as maps, as at run
// time, and the type of the result if no issue remains. CEL itself does not unify an object type
// with maps or with another object type.
//
// It checks the expression again with the operands of failed subexpressions wrapped: {"": dyn(x)}
// in place of an object x, [{"": dyn(x)}] in place of a list of objects. Issues that only the
// second check has are left out, since they concern results whose types the first check did not
// know.
//
// recheck returns all issues if it cannot tell which remain: one of the two lists may be
// incomplete, or the second check reports an issue of a subexpression that the expression does not
// have.
//
// If mix is set, the elements of a list, the values of a map and the alternatives of a conditional
// may have different types; recheck wraps each of them as dyn(x).
func (s *scope) recheck(env *cel.Env, e syntax, issues *cel.Issues, operands map[int64]*types.Type, mix bool) (*cel.Type, *cel.Issues) {
	if full(issues) {
		return cel.DynType, issues
	}
	parsed := e.tree()
	w := &wrapper{
		ExprFactory: ast.NewExprFactory(),
		objects:     s.types.objects,
		types:       operands,
		failed:      idsOf(issues),
		mix:         mix,
		known:       map[int64]bool{},
		wrapped:     map[int64]int64{},
		lastID:      ast.MaxID(parsed.NativeRep()),
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), w)
	if len(w.wrapped) == 0 {
		return cel.DynType, issues
	}
	checked, remaining := checkIn(env, parsed)
	if !failed(remaining) {
		return checked.OutputType(), nil
	}
	still, complete := map[int64]bool{}, !full(remaining)
	for id := range idsOf(remaining) {
		if original, ok := w.wrapped[id]; ok {
			id = original
		}
		still[id] = true
		complete = complete && w.known[id]
	}
	if !complete {
		return cel.DynType, issues
	}
	errs := slices.DeleteFunc(slices.Clone(issues.Errors()), func(e *cel.Error) bool { return w.known[e.ExprID] && !still[e.ExprID] })
	return cel.DynType, cel.NewIssues(common.NewErrors(parsed.Source()).Append(errs))
}

func idsOf(issues *cel.Issues) map[int64]bool {
	ids := map[int64]bool{}
	for _, e := range issues.Errors() {
		ids[e.ExprID] = true
	}
	return ids
}

// typesIn returns the types of the subexpressions of an expression that has type errors, without
// those that have no type. It returns nil if the environment is invalid or the check panics. A
// cel.Env does not return the types of an expression with errors.
func typesIn(env *cel.Env, parsed *cel.Ast) map[int64]*types.Type {
	declared, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(true))
	if err == nil {
		err = declared.AddIdents(env.Variables()...)
	}
	if err == nil {
		err = declared.AddFunctions(slices.Collect(maps.Values(env.Functions()))...)
	}
	if err != nil {
		return nil
	}
	var checked *ast.AST
	if try(func() { checked, _ = checker.Check(parsed.NativeRep(), parsed.Source(), declared) }) != nil {
		return nil
	}
	return checked.TypeMap()
}

// wrapper rewrites an expression so that the operands of failed subexpressions are maps instead of
// objects. types holds the types of the subexpressions, and failed those that have issues, by ID.
// mix is the argument of recheck.
type wrapper struct {
	ast.ExprFactory
	objects map[string]object
	types   map[int64]*types.Type
	failed  map[int64]bool
	mix     bool
	lastID  int64
	// known holds the IDs of the original expression.
	known map[int64]bool
	// wrapped maps the new ID of a wrapped subexpression to its original ID.
	wrapped map[int64]int64
}

// VisitEntryExpr implements ast.Visitor.
func (w *wrapper) VisitEntryExpr(e ast.EntryExpr) { w.known[e.ID()] = true }

// VisitExpr implements ast.Visitor. The subexpressions of e have been visited before.
func (w *wrapper) VisitExpr(e ast.Expr) {
	w.known[e.ID()] = true
	switch e.Kind() {
	case ast.CallKind:
		if call := e.AsCall(); w.failed[e.ID()] {
			w.visitCall(call)
		}
	case ast.ListKind:
		optional := e.AsList().OptionalIndices()
		w.visitElements(e.AsList().Elements(), func(i int) bool { return slices.Contains(optional, int32(i)) })
	case ast.MapKind:
		entries := e.AsMap().Entries()
		var values []ast.Expr
		for _, entry := range entries {
			values = append(values, entry.AsMapEntry().Value())
		}
		w.visitElements(values, func(i int) bool { return entries[i].AsMapEntry().IsOptional() })
	case ast.ComprehensionKind:
		if values := e.AsComprehension().IterRange(); w.failed[values.ID()] {
			w.wrap(values, w.asMaps)
		}
	}
}

func (w *wrapper) visitCall(call ast.CallExpr) {
	function := call.FunctionName()
	if function == operators.OptSelect {
		// For a map, the selection of a field that the object type lacks would be no error. So the
		// operand stays an object.
		return
	}
	if call.IsMemberFunction() {
		w.wrap(call.Target(), w.asMaps)
	}
	for i, arg := range call.Args() {
		switch {
		case function == operators.Conditional && i == 0:
			// The first operand of a conditional is its condition, which is not wrapped.
		case function == operators.Conditional || function == "orValue":
			w.wrap(arg, w.asAlternative)
		default:
			w.wrap(arg, w.asMaps)
		}
	}
}

// visitElements wraps the elements of a list or the values of a map if one of them has failed: its
// type may differ from the type of another one. optional reports whether a value is an optional
// entry.
func (w *wrapper) visitElements(values []ast.Expr, optional func(int) bool) {
	if !slices.ContainsFunc(values, func(e ast.Expr) bool { return w.failed[e.ID()] }) {
		return
	}
	for i, value := range values {
		if w.mix && optional(i) {
			w.wrap(value, w.asOptional)
		} else {
			w.wrap(value, w.asElement)
		}
	}
}

// wrap replaces an expression e by the result of a function that gets the type and a copy of e. If
// the result is nil, e stays.
func (w *wrapper) wrap(e ast.Expr, by func(*types.Type, ast.Expr) ast.Expr) {
	inner := w.NewUnspecifiedExpr(w.id())
	inner.SetKindCase(e)
	if outer := by(w.types[e.ID()], inner); outer != nil {
		e.SetKindCase(outer)
		w.wrapped[inner.ID()] = e.ID()
	}
}

// asMaps returns an expression whose type is t with maps in the place of objects. For an object,
// that is {"": dyn(e)}. Only its type matters, because it is checked and never evaluated. asMaps
// returns nil for a type without objects.
func (w *wrapper) asMaps(t *types.Type, e ast.Expr) ast.Expr {
	switch t.Kind() {
	case types.StructKind:
		if _, ok := w.objects[t.TypeName()]; ok || isConstructor(t.TypeName()) {
			return w.mapOf(w.NewCall(w.id(), "dyn", e))
		}
	case types.ListKind:
		if element := w.asMaps(t.Parameters()[0], e); element != nil {
			return w.NewList(w.id(), []ast.Expr{element}, nil)
		}
	case types.MapKind:
		if value := w.asMaps(t.Parameters()[1], e); value != nil {
			return w.mapOf(value)
		}
	case types.OpaqueKind:
		if isOptional(t) {
			if value := w.asMaps(t.Parameters()[0], e); value != nil {
				return w.NewCall(w.id(), "optional.of", value)
			}
		}
	}
	return nil
}

func isOptional(t *types.Type) bool {
	return t.Kind() == types.OpaqueKind && t.TypeName() == types.OptionalType.TypeName()
}

func (w *wrapper) mapOf(value ast.Expr) ast.Expr {
	key := w.NewLiteral(w.id(), types.String(""))
	return w.NewMap(w.id(), []ast.EntryExpr{w.NewMapEntry(w.id(), key, value, false)})
}

// asElement returns the expression that replaces e, of type t, as an element of a list or a value
// of a map in the second check. It returns nil, so that e stays, if mix is not set and t contains
// no objects.
func (w *wrapper) asElement(t *types.Type, e ast.Expr) ast.Expr {
	if w.mix {
		return w.NewCall(w.id(), "dyn", e)
	}
	return w.asMaps(t, e)
}

func (w *wrapper) asOptional(_ *types.Type, e ast.Expr) ast.Expr {
	return w.NewCall(w.id(), "optional.of", w.NewCall(w.id(), "dyn", e))
}

// asAlternative returns the expression that replaces e as an alternative of a conditional or as the
// argument of orValue() in the second check. Null becomes dynamic, since both alternatives may be
// null. Otherwise asAlternative does the same as asElement.
func (w *wrapper) asAlternative(t *types.Type, e ast.Expr) ast.Expr {
	if t.Kind() == types.NullTypeKind {
		return w.NewCall(w.id(), "dyn", e)
	}
	return w.asElement(t, e)
}

func (w *wrapper) id() int64 {
	w.lastID++
	return w.lastID
}

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

// excuse returns those of an expression's issues that remain when objects are taken for
// the maps that they are at run time, and the type of the result when none remains. CEL
// itself holds object types apart from maps and from each other.
//
// It has the expression checked once more, with the operands of what failed inside maps:
// {"": dyn(x)} in place of the object x, [{"": dyn(x)}] in place of a list of objects. It
// leaves out issues that only the second check has, which are about results that the first
// one knew nothing of.
func (s *scope) excuse(env *cel.Env, e syntax, issues *cel.Issues) (*cel.Type, *cel.Issues) {
	operands := s.typesIn(env, e.tree())
	if operands == nil {
		return cel.DynType, issues
	}
	parsed := e.tree()
	r := &reader{
		ExprFactory: ast.NewExprFactory(),
		objects:     s.types.objects,
		types:       operands,
		failed:      idsOf(issues),
		lastID:      ast.MaxID(parsed.NativeRep()),
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(r.visit))
	if !r.changed {
		return cel.DynType, issues
	}
	checked, remaining := env.Check(parsed)
	if remaining.Err() == nil {
		return checked.OutputType(), nil
	}
	still := idsOf(remaining)
	errs := slices.DeleteFunc(slices.Clone(issues.Errors()), func(e *cel.Error) bool { return !still[e.ExprID] })
	return cel.DynType, cel.NewIssues(common.NewErrors(parsed.Source()).Append(errs))
}

func idsOf(issues *cel.Issues) map[int64]bool {
	ids := map[int64]bool{}
	for _, e := range issues.Errors() {
		ids[e.ExprID] = true
	}
	return ids
}

// typesIn returns the types of all parts of an expression that have one, though others do
// not. A cel.Env does not tell those.
func (s *scope) typesIn(env *cel.Env, parsed *cel.Ast) map[int64]*types.Type {
	declared, err := checker.NewEnv(env.Container, s.types, checker.CrossTypeNumericComparisons(true))
	if err == nil {
		err = declared.AddIdents(env.Variables()...)
	}
	if err == nil {
		err = declared.AddFunctions(slices.Collect(maps.Values(env.Functions()))...)
	}
	if err != nil {
		return nil
	}
	checked, _ := checker.Check(parsed.NativeRep(), parsed.Source(), declared)
	return checked.TypeMap()
}

// reader rewrites an expression so that objects are read as maps where something failed.
type reader struct {
	ast.ExprFactory
	objects map[string]object
	types   map[int64]*types.Type
	failed  map[int64]bool
	lastID  int64
	changed bool
}

func (r *reader) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.CallKind:
		if call := e.AsCall(); r.failed[e.ID()] {
			r.visitCall(call)
		}
	case ast.ListKind:
		r.visitValues(e.AsList().Elements()...)
	case ast.MapKind:
		var values []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			values = append(values, entry.AsMapEntry().Value())
		}
		r.visitValues(values...)
	case ast.ComprehensionKind:
		r.visitValues(e.AsComprehension().IterRange())
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
	for _, arg := range call.Args() {
		r.replace(arg, r.asMaps)
		if function == operators.Conditional || function == "orValue" {
			r.replace(arg, r.nullAsDyn)
		}
	}
}

// visitValues takes values that belong together, any of which may have failed because of
// another.
func (r *reader) visitValues(values ...ast.Expr) {
	if slices.ContainsFunc(values, func(e ast.Expr) bool { return r.failed[e.ID()] }) {
		for _, value := range values {
			r.replace(value, r.asMaps)
		}
	}
}

// replace replaces an expression by one that contains it, unless that is nil.
func (r *reader) replace(e ast.Expr, by func(*types.Type, ast.Expr) ast.Expr) {
	inner := r.NewUnspecifiedExpr(r.id())
	inner.SetKindCase(e)
	if outer := by(r.types[e.ID()], inner); outer != nil {
		e.SetKindCase(outer)
		r.changed = true
	}
}

// asMaps returns nil for types without objects.
func (r *reader) asMaps(t *types.Type, e ast.Expr) ast.Expr {
	switch t.Kind() {
	case types.StructKind:
		if _, ok := r.objects[t.TypeName()]; ok {
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
		if t.TypeName() == types.OptionalType.TypeName() {
			if value := r.asMaps(t.Parameters()[0], e); value != nil {
				return r.NewCall(r.id(), "optional.of", value)
			}
		}
	}
	return nil
}

func (r *reader) mapOf(value ast.Expr) ast.Expr {
	key := r.NewLiteral(r.id(), types.String(""))
	return r.NewMap(r.id(), []ast.EntryExpr{r.NewMapEntry(r.id(), key, value, false)})
}

func (r *reader) nullAsDyn(t *types.Type, e ast.Expr) ast.Expr {
	if t.Kind() != types.NullTypeKind {
		return nil
	}
	return r.NewCall(r.id(), "dyn", e)
}

func (r *reader) id() int64 {
	r.lastID++
	return r.lastID
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// checkAssignments returns an issue for each field of a constructor whose value is not assignable
// to the field, or nil if there is none. It returns at most maxIssues. given holds the types of all
// subexpressions by ID.
func (c *constructors) checkAssignments(parsed *cel.Ast, given map[int64]*cel.Type) *cel.Issues {
	var errs []*common.Error
	source := parsed.NativeRep().SourceInfo()
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		constructor, ok := constructorOf(e)
		if !ok {
			return
		}
		for _, f := range e.AsStruct().Fields() {
			name, value := f.AsStructField().Name(), given[f.AsStructField().Value().ID()]
			field := constructor + "." + name
			expected := c.fieldTypes(constructor, name)
			if len(errs) == maxIssues || len(expected) == 0 || slices.ContainsFunc(expected, func(t *cel.Type) bool { return assignable(field, t, value) }) {
				continue
			}
			// Messages name the last type, which is the innermost of nested maps: objects of that
			// type are what authors mostly construct.
			likely := expected[len(expected)-1]
			errs = append(errs, &common.Error{
				ExprID:   f.ID(),
				Location: source.GetStartLocation(f.ID()),
				Message:  fmt.Sprintf("expected type of field '%s' is '%s' but provided type is '%s'", name, constructorName(field, likely), checker.FormatCELType(value)),
			})
		}
	}))
	if errs == nil {
		return nil
	}
	return cel.NewIssues(common.NewErrors(parsed.Source()).Append(errs))
}

// assignable reports whether a value of the given type may be the value of a field, which has the
// expected type when an expression reads it. field is the name of the field's constructor, such as
// Object.spec. It is the only constructor that the value may contain, also in lists and maps.
//
// Dynamic values are assignable to every field, and so is null, which deletes a field in a merge
// patch.
func assignable(field string, expected, given *cel.Type) bool {
	in := expected.Kind()
	switch given.Kind() {
	case types.StructKind:
		own := !isConstructor(given.TypeName()) || given.TypeName() == field
		return own && (in == types.StructKind || in == types.MapKind || in == types.DynKind)
	case types.ListKind:
		return (in == types.ListKind || in == types.DynKind) && assignable(field, elementType(expected), elementType(given))
	case types.MapKind:
		key := given.Parameters()[0].Kind()
		return (key == types.StringKind || key == types.DynKind) &&
			(in == types.StructKind || in == types.MapKind || in == types.DynKind) && assignable(field, elementType(expected), elementType(given))
	case types.BoolKind:
		return in == types.BoolKind || in == types.DynKind
	case types.IntKind, types.UintKind, types.DoubleKind:
		return in == types.IntKind || in == types.DynKind
	case types.OpaqueKind:
		if isOptional(given) {
			return assignable(field, expected, given.Parameters()[0])
		}
		// Most other opaque types become strings in JSON, as timestamps and durations do.
		return in == types.StringKind || in == types.DynKind
	case types.StringKind, types.BytesKind, types.TimestampKind, types.DurationKind:
		return in == types.StringKind || in == types.DynKind
	case types.TypeKind:
		return in == types.DynKind
	default:
		return true
	}
}

// elementType returns the type of the elements of a list or of the values of a map.
func elementType(t *cel.Type) *cel.Type {
	switch t.Kind() {
	case types.ListKind, types.MapKind:
		parameters := t.Parameters()
		return parameters[len(parameters)-1]
	default:
		return cel.DynType
	}
}

// constructorName describes the type t of a field in a message. For an object it returns field,
// which is the name of the field's constructor, for a list of objects list(field), and for a scalar
// the name of its type.
func constructorName(field string, t *cel.Type) string {
	switch t.Kind() {
	case types.StructKind, types.DynKind:
		return field
	case types.ListKind:
		return "list(" + constructorName(field, elementType(t)) + ")"
	case types.MapKind:
		return "map(string, " + constructorName(field, elementType(t)) + ")"
	default:
		return t.TypeName()
	}
}

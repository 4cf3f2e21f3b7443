// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// misfits returns an issue for each field of a constructor that is given a value which it
// cannot have, by the types of all parts of the expression. Nil if there is none. When there
// are very many, it does not return all.
func (c *constructors) misfits(parsed *cel.Ast, given map[int64]*cel.Type) *cel.Issues {
	var errs []*common.Error
	source := parsed.NativeRep().SourceInfo()
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.StructKind {
			return
		}
		constructor := strings.TrimPrefix(e.AsStruct().TypeName(), ".")
		if !isConstructor(constructor) {
			return
		}
		for _, f := range e.AsStruct().Fields() {
			name, value := f.AsStructField().Name(), given[f.AsStructField().Value().ID()]
			place := constructor + "." + name
			wanted := c.fieldTypes(constructor, name)
			if len(errs) == maxIssues || len(wanted) == 0 || slices.ContainsFunc(wanted, func(t *cel.Type) bool { return fits(place, t, value) }) {
				continue
			}
			// Last is what is deepest in maps, where constructors usually are.
			likely := wanted[len(wanted)-1]
			errs = append(errs, &common.Error{
				ExprID:   f.ID(),
				Location: source.GetStartLocation(f.ID()),
				Message:  fmt.Sprintf("expected type of field '%s' is '%s' but provided type is '%s'", name, describe(place, likely), checker.FormatCELType(value)),
			})
		}
	}))
	if errs == nil {
		return nil
	}
	return cel.NewIssues(common.NewErrors(parsed.Source()).Append(errs))
}

// fits says whether a value of the given type may be in a place. The type that is wanted
// there is that of reading it. Constructors in the value, alone and in lists and maps, have
// to be the place's own.
//
// What is not known fits everywhere. So does null, which deletes in a merge patch.
func fits(place string, wanted, given *cel.Type) bool {
	in := wanted.Kind()
	switch given.Kind() {
	case types.StructKind:
		own := !isConstructor(given.TypeName()) || given.TypeName() == place
		return own && (in == types.StructKind || in == types.MapKind || in == types.DynKind)
	case types.ListKind:
		return (in == types.ListKind || in == types.DynKind) && fits(place, within(wanted), within(given))
	case types.MapKind:
		key := given.Parameters()[0].Kind()
		return (key == types.StringKind || key == types.DynKind) &&
			(in == types.StructKind || in == types.MapKind || in == types.DynKind) && fits(place, within(wanted), within(given))
	case types.BoolKind:
		return in == types.BoolKind || in == types.DynKind
	case types.IntKind, types.UintKind, types.DoubleKind:
		return in == types.IntKind || in == types.DynKind
	case types.OpaqueKind:
		if isOptional(given) {
			return fits(place, wanted, given.Parameters()[0])
		}
		// Many have a text, as those below.
		return in == types.StringKind || in == types.DynKind
	case types.StringKind, types.BytesKind, types.TimestampKind, types.DurationKind:
		return in == types.StringKind || in == types.DynKind
	case types.TypeKind:
		return in == types.DynKind
	default:
		return true
	}
}

// within returns the type of the values of a list or a map.
func within(t *cel.Type) *cel.Type {
	switch t.Kind() {
	case types.ListKind, types.MapKind:
		parameters := t.Parameters()
		return parameters[len(parameters)-1]
	default:
		return cel.DynType
	}
}

// describe returns the name of a type in a place, as one would write it there.
func describe(place string, t *cel.Type) string {
	switch t.Kind() {
	case types.StructKind, types.DynKind:
		return place
	case types.ListKind:
		return "list(" + describe(place, within(t)) + ")"
	case types.MapKind:
		return "map(string, " + describe(place, within(t)) + ")"
	default:
		return t.TypeName()
	}
}

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
//
// It returns all issues when there is no telling which of them remain, because one of the two
// lists may not have all or the second check reports something of no known part.
//
// Where values may mix, those that belong together need not have the same type: dyn(x) stands
// for each.
func (s *scope) excuse(env *cel.Env, e syntax, issues *cel.Issues, operands map[int64]*types.Type, mix bool) (*cel.Type, *cel.Issues) {
	if full(issues) {
		return cel.DynType, issues
	}
	parsed := e.tree()
	r := &reader{
		ExprFactory: ast.NewExprFactory(),
		objects:     s.types.objects,
		types:       operands,
		failed:      idsOf(issues),
		mix:         mix,
		known:       map[int64]bool{},
		replaced:    map[int64]int64{},
		lastID:      ast.MaxID(parsed.NativeRep()),
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), r)
	if len(r.replaced) == 0 {
		return cel.DynType, issues
	}
	checked, remaining := checkIn(env, parsed)
	if !failed(remaining) {
		return checked.OutputType(), nil
	}
	still := r.originals(idsOf(remaining))
	if full(remaining) || !r.knows(still) {
		return cel.DynType, issues
	}
	errs := slices.DeleteFunc(slices.Clone(issues.Errors()), func(e *cel.Error) bool { return r.known[e.ExprID] && !still[e.ExprID] })
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
// not, or nil if the environment is wrong or the check panics. A cel.Env does not tell those.
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

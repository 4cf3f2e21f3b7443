// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"

	"celador.io/admission/cel/internal/syntax"
)

// checkOptionalEntries returns an issue for each optional entry of a list or map whose value has
// the type dyn, such as [?dyn(x)]. A validator of Kubernetes' environments panics on these entries
// (patches/cel-go/0003). It returns nil for expressions without optional entries and for those that
// do not compile.
func checkOptionalEntries(env *cel.Env, parsed *cel.Ast) *cel.Issues {
	values := optionalEntries(parsed.NativeRep().Expr())
	if len(values) == 0 {
		return nil
	}
	checked := checkWithoutValidators(env, parsed)
	if checked == nil {
		return nil
	}
	issues := syntax.NewIssues(parsed)
	for id, entry := range values {
		if syntax.IsOptional(checked.GetType(id)) {
			continue
		}
		issues.ReportErrorAtID(id, "the value of the optional %s must be an optional, but its type is dyn. Select it with '.?field', or write optional.of()", entry)
	}
	return syntax.AnyIssues(issues)
}

// checkWithoutValidators returns a copy of an expression with its types, or nil if the expression
// is not well-typed. cel.Env's own check also calls the validators, one of which may panic.
func checkWithoutValidators(env *cel.Env, parsed *cel.Ast) *ast.AST {
	declared, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(true))
	if err != nil || declared.AddIdents(env.Variables()...) != nil || declared.AddFunctions(slices.Collect(maps.Values(env.Functions()))...) != nil {
		return nil
	}
	checked, errs := checker.Check(ast.Copy(parsed.NativeRep()), parsed.Source(), declared)
	if len(errs.GetErrors()) > 0 {
		return nil
	}
	return checked
}

// optionalEntries returns the IDs of the values of all optional entries of lists and maps, with a
// description of the entry.
func optionalEntries(e ast.Expr) map[int64]string {
	values := map[int64]string{}
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ListKind:
			list := e.AsList()
			for _, i := range list.OptionalIndices() {
				values[list.Elements()[i].ID()] = "element of the list"
			}
		case ast.MapKind:
			for _, entry := range e.AsMap().Entries() {
				entry := entry.AsMapEntry()
				if !entry.IsOptional() {
					continue
				}
				name := "entry of the map"
				if key := entry.Key(); key.Kind() == ast.LiteralKind {
					name = fmt.Sprintf("entry %v of the map", key.AsLiteral())
				}
				values[entry.Value().ID()] = name
			}
		}
	}))
	return values
}

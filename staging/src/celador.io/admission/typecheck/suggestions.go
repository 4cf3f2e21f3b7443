// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/spelling"
)

// issuesOf returns the first issues of an expression, each in one line, with suggestions for
// misspelt fields. given holds the types of subexpressions, and may be nil.
func (s *scope) issuesOf(tree *cel.Ast, given map[int64]*cel.Type, issues *cel.Issues) []Issue {
	suggestions := suggestions{s, given, map[int64]iter.Seq[string]{}}
	ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(suggestions.visit))
	var all []Issue
	for _, e := range sorted(issues)[:min(len(issues.Errors()), maxShown)] {
		message := strings.Join(strings.Fields(e.Message), " ")
		if name, undefined := undefinedName(e.Message); undefined {
			if fields := suggestions.fields[e.ExprID]; fields != nil {
				if near := spelling.Nearest(name, fields); near != "" {
					message += fmt.Sprintf(": did you mean %s?", spelled(near))
				}
			}
		}
		all = append(all, Issue{Line: e.Location.Line(), Column: e.Location.Column() + 1, Message: message})
	}
	return all
}

// undefinedName returns the name in cel-go's message about a field that a type does not have.
func undefinedName(message string) (string, bool) {
	rest, undefined := strings.CutPrefix(message, undefinedField)
	name, isWhole := strings.CutSuffix(rest, "'")
	return name, undefined && isWhole
}

// suggestions collects, for each place where an expression names a field, the fields that exist
// there: those of the operand or of the constructed object. If the name is misspelt, one of them is
// meant.
type suggestions struct {
	*scope
	given map[int64]*cel.Type
	// fields holds, for each selection and each entry of a constructor, by its ID, the names of the
	// fields that exist there.
	fields map[int64]iter.Seq[string]
}

func (x suggestions) visit(e ast.Expr) {
	if operand, _, ok := selection(e); ok {
		x.fields[e.ID()] = x.fieldsOf(x.given[operand.ID()])
		return
	}
	constructor, ok := constructorOf(e)
	if !ok {
		return
	}
	for _, f := range e.AsStruct().Fields() {
		x.fields[f.ID()] = func(yield func(string) bool) {
			for _, t := range x.constructors.typesOf(constructor) {
				for name := range x.fieldsOf(t) {
					if !yield(name) {
						return
					}
				}
			}
		}
	}
}

// maxNames is the number of fields above which there are no suggestions: a suggestion compares the
// name with each of them.
const maxNames = 1000

// fieldsOf returns the names of the fields of an object type, or of the variables. It returns none
// if there are too many.
func (x suggestions) fieldsOf(t *cel.Type) iter.Seq[string] {
	t = valueType(t)
	if t != nil && t.Kind() == types.StructKind {
		if s := x.types.objects[t.TypeName()].Schema; s != nil && len(s.Properties) <= maxNames {
			return maps.Keys(s.Properties)
		}
		if t.TypeName() == variablesType && len(x.types.variables) <= maxNames {
			return maps.Keys(x.types.variables)
		}
	}
	return func(func(string) bool) {}
}

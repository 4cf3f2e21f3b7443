// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// findGuarded finds the type errors that cannot occur, because has() guards them: has() is false
// for objects of a type without the field, and so the subexpression with the error is not
// evaluated. It marks the assessments, each the result of checking one expression for one type, as
// guarded. If has() makes a condition of the policy false, the errors of the expressions that
// depend on the condition are guarded, too.
//
// allKnown means that all types of the policy are checked. If an assessment is then guarded only by
// a has() of a field that no type has, it is marked as unknown, too: the field is one of another
// version of the type, or a typo.
func (c *Checker) findGuarded(expressions []fieldExpression, params *resolvedType, checked []checkedType, allKnown bool) {
	lacking := make([]map[int64]int, len(expressions)) // by ID of a has(), the number of types without its field
	for i := range expressions {
		lacking[i] = map[int64]int{}
		for _, t := range checked {
			for _, id := range t.assessments[i].absent {
				lacking[i][id]++
			}
		}
	}
	for _, t := range checked {
		all, known, same := make([][]int64, len(expressions)), make([][]int64, len(expressions)), true
		for i := range expressions {
			all[i] = t.assessments[i].absent
			known[i] = slices.DeleteFunc(slices.Clone(all[i]), func(id int64) bool { return allKnown && lacking[i][id] == len(checked) })
			same = same && len(known[i]) == len(all[i])
		}
		guarded := c.guardedBy(all, expressions, t, params)
		likely := guarded
		if !same {
			likely = c.guardedBy(known, expressions, t, params)
		}
		for i := range expressions {
			t.assessments[i].guarded = guarded[i]
			t.assessments[i].unknown = guarded[i] && !likely[i]
		}
	}
}

// guardedBy reports for each expression whether its type errors cannot occur while the has() calls
// with the given IDs, a list for each expression, are false.
func (c *Checker) guardedBy(absent [][]int64, expressions []fieldExpression, t checkedType, params *resolvedType) []bool {
	guarded := make([]bool, len(expressions))
	pruned := slices.Clone(expressions)
	found, falseConditions := false, map[int]bool{}
	for i := range pruned {
		if len(absent[i]) == 0 {
			continue
		}
		found = true
		parsed, err := expressions[i].parse()
		if err != nil {
			continue // an expression with a syntax error has no has()
		}
		without := parsed.without(absent[i])
		pruned[i].parse = func() (syntax, error) { return without, nil }
		falseConditions[i] = isConstant(types.False)(without.tree().NativeRep().Expr())
	}
	if !found {
		return guarded
	}
	assessments, err := c.checkExpressions(pruned, t.object, params)
	if err != nil {
		return guarded // no error counts as guarded
	}
	for i := range assessments {
		never := slices.ContainsFunc(pruned[i].onlyIf, func(condition int) bool { return falseConditions[condition] })
		guarded[i] = t.assessments[i].message != "" && (never || assessments[i].message == "")
	}
	return guarded
}

// tests returns the IDs of the has() calls among the given nodes.
func (s syntax) tests(nodes map[int64]bool) []int64 {
	var tests []int64
	ast.PostOrderVisit(s.tree().NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && nodes[e.ID()] {
			tests = append(tests, e.ID())
		}
	}))
	return tests
}

// without returns the expression as it is evaluated if the has() calls with the given IDs are
// false: without the subexpressions that are then skipped.
func (s syntax) without(absent []int64) syntax {
	p := pruner{ast.NewExprFactory(), absent}
	return syntax{tree: func() *cel.Ast {
		tree := s.tree()
		ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(p.visit))
		return tree
	}}
}

// pruner replaces the has() calls whose IDs are in absent by false, and folds the operators whose
// results follow from that.
type pruner struct {
	ast.ExprFactory
	absent []int64
}

// visit folds a node into a constant if possible. Its operands have been visited before.
func (p pruner) visit(e ast.Expr) {
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() && slices.Contains(p.absent, e.ID()) {
			p.set(e, types.False)
		}
	case ast.CallKind:
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.LogicalNot:
			if value, ok := constant(args[0]); ok {
				p.set(e, !value)
			}
		case operators.LogicalAnd:
			// A false operand makes the result false, even if another operand is an error.
			if slices.ContainsFunc(args, isConstant(types.False)) {
				p.set(e, types.False)
			}
		case operators.LogicalOr:
			if slices.ContainsFunc(args, isConstant(types.True)) {
				p.set(e, types.True)
			}
		case operators.Conditional:
			if value, ok := constant(args[0]); ok && bool(value) {
				e.SetKindCase(args[1])
			} else if ok {
				e.SetKindCase(args[2])
			}
		}
	}
}

func (p pruner) set(e ast.Expr, value types.Bool) { e.SetKindCase(p.NewLiteral(e.ID(), value)) }

func constant(e ast.Expr) (value types.Bool, ok bool) {
	if e.Kind() != ast.LiteralKind {
		return false, false
	}
	value, ok = e.AsLiteral().(types.Bool)
	return value, ok
}

func isConstant(want types.Bool) func(ast.Expr) bool {
	return func(e ast.Expr) bool {
		value, ok := constant(e)
		return ok && value == want
	}
}

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

// findGuarded marks what is wrong only with parts of expressions that has() rules out: for a
// type that does not have the field, has() is false, and so nothing that depends on it is
// ever evaluated. If that makes a condition false, nothing of what it decides about is. A
// field that none of the types has is a mistake, if all types are known.
func (c *Checker) findGuarded(expressions []fieldExpression, params *description, checked []checkedType, allKnown bool) {
	lacking := make([]map[int64]int, len(expressions)) // how many types lack the field of a has()
	for i := range expressions {
		lacking[i] = map[int64]int{}
		for _, t := range checked {
			for _, id := range t.verdicts[i].absent {
				lacking[i][id]++
			}
		}
	}
	for _, t := range checked {
		pruned := slices.Clone(expressions)
		found, unmet := false, map[int]bool{}
		for i := range pruned {
			absent := slices.DeleteFunc(slices.Clone(t.verdicts[i].absent), func(id int64) bool { return allKnown && lacking[i][id] == len(checked) })
			if len(absent) == 0 {
				continue
			}
			found = true
			parsed, err := expressions[i].parse()
			if err != nil {
				continue // nothing is absent from what cannot be parsed
			}
			without := parsed.without(absent)
			pruned[i].parse = func() (syntax, error) { return without, nil }
			unmet[i] = isConstant(types.False)(without.tree().NativeRep().Expr())
		}
		if !found {
			continue
		}
		verdicts, err := c.checkExpressions(pruned, t.object, params)
		if err != nil {
			continue // what is found stays found
		}
		for i := range verdicts {
			never := slices.ContainsFunc(pruned[i].onlyIf, func(condition int) bool { return unmet[condition] })
			t.verdicts[i].guarded = t.verdicts[i].message != "" && (never || verdicts[i].message == "")
		}
	}
}

// tests returns those of the nodes of an expression that are has().
func (s syntax) tests(nodes map[int64]bool) []int64 {
	var tests []int64
	ast.PostOrderVisit(s.tree().NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() && nodes[e.ID()] {
			tests = append(tests, e.ID())
		}
	}))
	return tests
}

// without returns the expression with the has() of those IDs false, and without what is not
// evaluated then.
func (s syntax) without(absent []int64) syntax {
	p := pruner{ast.NewExprFactory(), absent}
	return syntax{tree: func() *cel.Ast {
		tree := s.tree()
		ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(p.visit))
		return tree
	}}
}

type pruner struct {
	ast.ExprFactory
	absent []int64
}

// visit evaluates a node whose operands have been visited, as far as constants go.
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
			// One operand decides, even if another is an error.
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

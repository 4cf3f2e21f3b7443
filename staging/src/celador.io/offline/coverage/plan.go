// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/expression"
)

// A Plan knows the branches of an expression. It is immutable.
type Plan struct {
	source
	branches []Branch
	// conditions holds the first branch of the nodes with branches, by ID.
	conditions  map[int64]int
	comparisons map[int64]*comparison
}

// NewPlan returns the plan of a checked expression. Its source info must have the calls of macros.
func NewPlan(checked *ast.AST) *Plan {
	p := &Plan{source: source{checked}, conditions: map[int64]int{}, comparisons: map[int64]*comparison{}}
	root := checked.Expr()
	switch {
	case p.isConstant(root):
	case p.isBool(root):
		p.walk(root, true)
	default:
		p.add(root, Evaluated)
		p.walk(root, false)
	}
	return p
}

// Branches returns the branches of the expression, none of which is covered. The caller owns the result.
func (p *Plan) Branches() []Branch { return append([]Branch(nil), p.branches...) }

// Cover sets Covered of the branches that an evaluation reached. branches are those of the plan.
func (p *Plan) Cover(branches []Branch, steps []expression.Step) {
	latest := values{}
	for _, step := range steps {
		latest[step.ID] = step.Value
		if c, found := p.comparisons[step.ID]; found {
			c.cover(branches, latest)
			continue
		}
		first, found := p.conditions[step.ID]
		if !found || types.IsError(step.Value) {
			continue
		}
		outcomes := branches[first:]
		switch v := step.Value.(type) {
		case types.Bool:
			if outcomes[0].Outcome == True {
				outcomes[index(v == types.True)].Covered = true
				continue
			}
		case *types.Optional:
			if outcomes[0].Outcome == Present {
				outcomes[index(v.HasValue())].Covered = true
				continue
			}
		}
		if outcomes[0].Outcome == Evaluated {
			outcomes[0].Covered = true
		}
	}
}

// index returns the index of the branch for an outcome that is one of two.
func index(first bool) int {
	if first {
		return 0
	}
	return 1
}

// values are the latest values of nodes.
type values map[int64]ref.Val

// add adds branches of a node, unless it has some.
func (p *Plan) add(e ast.Expr, outcomes ...Outcome) {
	if _, found := p.conditions[e.ID()]; found {
		return
	}
	p.conditions[e.ID()] = len(p.branches)
	for _, outcome := range outcomes {
		p.branches = append(p.branches, newBranch(p.text(e), outcome))
	}
}

// condition adds both outcomes of a condition.
func (p *Plan) condition(e ast.Expr) {
	if !p.isConstant(e) {
		p.add(e, True, False)
	}
}

// walk adds the branches of a node and of its parts. logical is set if the node decides over a condition.
func (p *Plan) walk(e ast.Expr, logical bool) {
	if macro, ok := p.macro(e); ok {
		p.walkMacro(e, macro)
		return
	}
	if e.Kind() != ast.CallKind {
		if logical {
			p.condition(e)
		}
		for _, part := range p.parts(e) {
			p.walk(part, false)
		}
		return
	}
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot, operators.LogicalAnd, operators.LogicalOr:
		for _, operand := range args {
			p.walk(operand, true)
		}
		return
	case operators.Conditional:
		p.walk(args[0], true)
		p.walk(args[1], logical)
		p.walk(args[2], logical)
		return
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		if !p.isConstant(e) {
			p.compare(e)
		}
	default:
		if name := call.FunctionName(); (name == "or" || name == "orValue") && call.IsMemberFunction() {
			p.add(call.Target(), Present, Absent)
		}
		if logical || p.isBool(e) {
			p.condition(e)
		}
	}
	for _, part := range p.parts(e) {
		p.walk(part, false)
	}
}

// walkMacro adds the branches of the call of a macro. e is its expansion.
func (p *Plan) walkMacro(e ast.Expr, macro ast.CallExpr) {
	args := macro.Args()
	last := len(args) - 1
	if p.isBool(e) {
		p.condition(e)
	}
	if macro.IsMemberFunction() {
		p.walk(macro.Target(), false)
	}
	switch macro.FunctionName() {
	case "has":
		for _, part := range p.parts(args[0]) {
			p.walk(part, false)
		}
	case "all", "exists", "exists_one", "existsOne", "filter":
		p.walk(args[last], true)
	case "optMap", "optFlatMap":
		p.add(macro.Target(), Present, Absent)
		p.walk(args[last], false)
	default: // map(), transformList() and others, with a filter before the last argument
		first := 0
		for first < last && args[first].Kind() == ast.IdentKind {
			first++
		}
		for _, filter := range args[first:last] {
			p.walk(filter, true)
		}
		before := len(p.branches)
		p.walk(args[last], false)
		if len(p.branches) == before && !p.isConstant(args[last]) {
			p.add(args[last], Evaluated)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package coverage measures which branches of CEL expressions tests reach, and explains the value
// of an expression by the values of its parts.
//
// A condition, such as a comparison, has a branch for each of its results. See BranchResult
// for all branches.
package coverage

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/expression"
)

// A BranchIndex knows the branches of an expression. It is immutable.
type BranchIndex struct {
	source
	branches []Branch
	// first holds the index of the first branch of each node that has branches, by the node's ID.
	first       map[int64]int
	comparisons map[int64]*comparison
	// decisions holds the nodes whose result always matters, because no logical operator around
	// them can make it irrelevant: the expression itself, bodies of macros, conditions of ternaries
	// and arguments of functions.
	decisions map[int64]ast.Expr
	// loops maps the IDs of the bodies of all() and exists() to the IDs of the calls.
	loops map[int64]int64
}

// NewBranchIndex returns the index of a checked expression. Its source info must have the calls of
// macros, because branches are those of the macros, and not of what the parser expands them to.
func NewBranchIndex(checked *ast.AST) *BranchIndex {
	p := &BranchIndex{source: source{checked}, first: map[int64]int{}, comparisons: map[int64]*comparison{}, decisions: map[int64]ast.Expr{}, loops: map[int64]int64{}}
	root := checked.Expr()
	switch {
	case p.isConstant(root):
	case p.isBool(root):
		p.decide(root)
	default:
		p.add(root, Evaluated)
		p.walk(root, false)
	}
	return p
}

// Text returns the expression, in one line.
func (p *BranchIndex) Text() string { return p.text(p.checked.Expr()) }

// Branches returns the branches of the expression, none of which is covered. The caller owns the
// result.
func (p *BranchIndex) Branches() []Branch { return append([]Branch(nil), p.branches...) }

// Cover sets Covered of the branches that an evaluation reached. branches come from Branches.
func (p *BranchIndex) Cover(branches []Branch, steps []expression.Step) {
	latest := values{}
	// iterations holds, by the ID of the call of all() or exists(), what its body has reached for
	// each element, until the result of the call is known.
	iterations := map[int64][]iteration{}
	for _, step := range steps {
		latest[step.ID] = step.Value
		for _, i := range iterations[step.ID] {
			if i.value == step.Value {
				merge(branches, i.branches)
			}
		}
		delete(iterations, step.ID)
		if decision, found := p.decisions[step.ID]; found {
			if loop, found := p.loops[step.ID]; found {
				i := iteration{step.Value, p.Branches()}
				p.cover(i.branches, latest, decision)
				iterations[loop] = append(iterations[loop], i)
			} else {
				p.cover(branches, latest, decision)
			}
			p.forget(latest, decision)
		} else if first, found := p.first[step.ID]; found && !isCondition(branches[first].Result) {
			coverValue(branches[first:], step.Value)
		}
	}
}

// An iteration is what the body of all() or exists() reached for one element. It counts only if it
// has the same result as the call: if all() is false because of one element, the other elements do
// not show whether the test would notice a mistake.
type iteration struct {
	value    ref.Val
	branches []Branch
}

// merge sets Covered of the branches that are covered in others.
func merge(branches, others []Branch) {
	for i := range branches {
		branches[i].Covered = branches[i].Covered || others[i].Covered
	}
}

// cover sets Covered of the results that decide the value of e. In a && b, for example, the value
// of a decides only if it equals the value of a && b: if a && b is false because of b, the value of
// a has no influence.
func (p *BranchIndex) cover(branches []Branch, latest values, e ast.Expr) {
	value, isBool := latest[e.ID()].(types.Bool)
	if !isBool {
		return
	}
	if _, isMacro := p.macro(e); !isMacro && e.Kind() == ast.CallKind {
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.LogicalNot:
			p.cover(branches, latest, args[0])
			return
		case operators.LogicalAnd, operators.LogicalOr:
			for _, operand := range args {
				if latest[operand.ID()] == value {
					p.cover(branches, latest, operand)
				}
			}
			return
		case operators.Conditional:
			for _, arm := range args[1:] {
				p.cover(branches, latest, arm) // the other arm has no value
			}
			return
		}
	}
	if c, found := p.comparisons[e.ID()]; found {
		c.cover(branches, latest)
	} else if first, found := p.first[e.ID()]; found && isCondition(branches[first].Result) {
		branches[first+index(value == types.True)].Covered = true
	}
}

// forget removes the values of e and the nodes in it, so that they are not taken for values of the
// next iteration, if e is in the body of a macro.
func (p *BranchIndex) forget(latest values, e ast.Expr) {
	delete(latest, e.ID())
	for _, part := range p.parts(e) {
		p.forget(latest, part)
	}
}

// coverValue sets Covered of the branch of a value that is not a condition.
func coverValue(branches []Branch, value ref.Val) {
	if types.IsError(value) {
		return
	}
	optional, isOptional := value.(*types.Optional)
	switch result := branches[0].Result; {
	case result == Evaluated:
		branches[0].Covered = true
	case result == Present && isOptional:
		branches[index(optional.HasValue())].Covered = true
	}
}

func isCondition(result BranchResult) bool { return result == True || result == False }

// index returns the index of a branch among two: 0 if first is set, and 1 otherwise.
func index(first bool) int {
	if first {
		return 0
	}
	return 1
}

// values are the latest values of nodes.
type values map[int64]ref.Val

// add adds branches of a node, unless it has some.
func (p *BranchIndex) add(e ast.Expr, results ...BranchResult) {
	if _, found := p.first[e.ID()]; found {
		return
	}
	p.first[e.ID()] = len(p.branches)
	for _, result := range results {
		b := newBranch(p.text(e), result)
		if isCondition(result) {
			b.Missing += p.decisive(e)
		}
		p.branches = append(p.branches, b)
	}
}

// decisive returns " and decisive" for a condition whose result a logical operator may ignore, and
// otherwise "". It completes the text that says what a test lacks to reach a branch: such a
// condition must not only have the result, but also decide the result of the operator.
func (p *BranchIndex) decisive(e ast.Expr) string {
	if _, decides := p.decisions[e.ID()]; decides {
		return ""
	}
	return " and decisive"
}

// condition adds both results of a condition.
func (p *BranchIndex) condition(e ast.Expr) {
	if !p.isConstant(e) {
		p.add(e, True, False)
	}
}

// decide adds the branches of a node that is a decision; see decisions.
func (p *BranchIndex) decide(e ast.Expr) {
	p.decisions[e.ID()] = e
	p.walk(e, true)
}

// walk adds the branches of a node and of its parts. logical is set if the caller knows that the
// node is a condition: a decision, or an operand of a logical operator in one. Otherwise walk adds
// the node to decisions if its type is bool.
func (p *BranchIndex) walk(e ast.Expr, logical bool) {
	if macro, ok := p.macro(e); ok {
		if !logical && p.isBool(e) {
			p.decisions[e.ID()] = e
		}
		p.walkMacro(e, macro)
		return
	}
	if e.Kind() != ast.CallKind {
		if logical {
			p.condition(e)
		}
		p.walkParts(e)
		return
	}
	call := e.AsCall()
	if !logical && p.isBool(e) {
		p.decide(e)
		return
	}
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		_, decides := p.decisions[e.ID()]
		if _, isLoop := p.loops[e.ID()]; decides && !isLoop {
			p.decide(args[0])
			return
		}
		p.walk(args[0], true)
		return
	case operators.LogicalAnd, operators.LogicalOr:
		for _, operand := range args {
			p.walk(operand, true)
		}
		return
	case operators.Conditional:
		p.decide(args[0])
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
		if logical {
			p.condition(e)
		}
	}
	p.walkParts(e)
}

// walkParts adds the branches of the parts of a node that is no logical operator.
func (p *BranchIndex) walkParts(e ast.Expr) {
	for _, part := range p.parts(e) {
		p.walk(part, false)
	}
}

// walkMacro adds the branches of the call of a macro. e is its expansion.
func (p *BranchIndex) walkMacro(e ast.Expr, macro ast.CallExpr) {
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
		p.walkParts(args[0])
	case "all", "exists", "exists_one", "existsOne", "filter":
		if name := macro.FunctionName(); name == "all" || name == "exists" {
			p.loops[args[last].ID()] = e.ID()
		}
		p.decide(args[last])
	case "optMap", "optFlatMap":
		p.add(macro.Target(), Present, Absent)
		p.walk(args[last], false)
	default: // map(), transformList() and others, with a filter before the last argument
		first := 0
		for first < last && args[first].Kind() == ast.IdentKind {
			first++
		}
		for _, filter := range args[first:last] {
			p.decide(filter)
		}
		before := len(p.branches)
		p.walk(args[last], false)
		if len(p.branches) == before && !p.isConstant(args[last]) {
			p.add(args[last], Evaluated)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"fmt"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A comparison is a call of <, <=, > or >=.
type comparison struct {
	left, right operand
	// next is the neighbor of Equal across the limit: Less or Greater, whichever gives the
	// expression another value than Equal. For a <= 5, it is Greater. The branch of next counts as
	// covered by integers only if they differ by 1, so that tests try the values at the limit.
	next BranchResult
	// branches holds the index of the branch of each result.
	branches map[BranchResult]int
}

// An operand is a side of a comparison.
type operand struct {
	id int64
	// literal is nil if the operand is not a literal.
	literal ref.Val
}

func newOperand(e ast.Expr) operand {
	o := operand{id: e.ID()}
	if e.Kind() == ast.LiteralKind {
		o.literal = e.AsLiteral()
	}
	return o
}

func (o operand) value(latest values) ref.Val {
	if o.literal != nil {
		return o.literal
	}
	return latest[o.id]
}

// compare adds the results of a comparison.
func (p *BranchIndex) compare(e ast.Expr) {
	call := e.AsCall()
	left, right := call.Args()[0], call.Args()[1]
	c := &comparison{left: newOperand(left), right: newOperand(right), next: Less, branches: map[BranchResult]int{}}
	if f := call.FunctionName(); f == operators.LessEquals || f == operators.Greater {
		c.next = Greater
	}
	p.comparisons[e.ID()] = c
	for _, result := range []BranchResult{Less, Equal, Greater} {
		// A size is never less than 0.
		if result == Less && p.isSize(left) && c.right.literal == types.Int(0) || result == Greater && p.isSize(right) && c.left.literal == types.Int(0) {
			continue
		}
		c.branches[result] = len(p.branches)
		p.branches = append(p.branches, Branch{Text: p.text(e), Result: result, Missing: p.missing(left, right, result, c.next) + p.decisive(e)})
	}
}

// isSize reports whether a node is a call of size().
func (p *BranchIndex) isSize(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "size"
}

// missing says which values would reach a result of a comparison.
func (p *BranchIndex) missing(left, right ast.Expr, result, next BranchResult) string {
	subject, bound := left, right
	flipped := map[BranchResult]BranchResult{Less: Greater, Equal: Equal, Greater: Less}
	if left.Kind() == ast.LiteralKind {
		subject, bound, result, next = right, left, flipped[result], flipped[next]
	}
	text := p.text(subject) + " was never "
	distance := map[BranchResult]int64{Less: -1, Greater: 1}[result]
	var integer types.Int
	isInteger := false
	if bound.Kind() == ast.LiteralKind {
		integer, isInteger = bound.AsLiteral().(types.Int)
	}
	switch {
	case result == Equal && bound.Kind() == ast.LiteralKind:
		return text + p.text(bound)
	case result == Equal:
		return text + "equal to " + p.text(bound)
	case result == next && isInteger:
		return text + fmt.Sprint(int64(integer)+distance)
	case result == next:
		return text + string(result) + " than " + p.text(bound) + ", by 1 if they are integers"
	default:
		return text + string(result) + " than " + p.text(bound)
	}
}

// cover sets Covered of the result of the comparison.
func (c *comparison) cover(branches []Branch, latest values) {
	left, right := c.left.value(latest), c.right.value(latest)
	comparer, ok := left.(traits.Comparer)
	if !ok || right == nil {
		return
	}
	order, ok := comparer.Compare(right).(types.Int)
	if !ok {
		return
	}
	result := map[types.Int]BranchResult{types.IntNegOne: Less, types.IntZero: Equal, types.IntOne: Greater}[order]
	if result == c.next && !adjacent(left, right) {
		return
	}
	if branch, found := c.branches[result]; found {
		branches[branch].Covered = true
	}
}

// adjacent reports whether two integers differ by 1. Other values count as adjacent, since they
// have no next value.
func adjacent(left, right ref.Val) bool {
	switch l := left.(type) {
	case types.Int:
		if r, ok := right.(types.Int); ok {
			return l < r && l+1 == r || r < l && r+1 == l
		}
	case types.Uint:
		if r, ok := right.(types.Uint); ok {
			return l < r && l+1 == r || r < l && r+1 == l
		}
	}
	return true
}

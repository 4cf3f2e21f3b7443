// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/syntax"
)

// macroExpansion plans comprehensions that are the expansions of all, exists, map and filter. Those
// macros need no intermediate value of the accumulator, so the loop does not evaluate the expanded
// condition and step; it adds their costs as constants. It returns false for other comprehensions.
func (p *planner) macroExpansion(c ast.ComprehensionExpr, elements closure, item int, condition node) (node, bool) {
	if !syntax.IsIdent(c.Result(), c.AccuVar()) {
		return node{}, false
	}
	if condition.constant == types.True {
		return p.collection(c, elements, item)
	}
	return p.quantifier(c, elements, item)
}

// quantifier plans the expansions of all and exists. For all, the decisive value of the predicate
// is false, for exists it is true.
func (p *planner) quantifier(c ast.ComprehensionExpr, elements closure, item int) (node, bool) {
	undecided := syntax.Args(c.LoopCondition(), operators.NotStrictlyFalse, 1)
	if undecided == nil || c.AccuInit().Kind() != ast.LiteralKind {
		return node{}, false
	}
	var decisive types.Bool
	var condition uint64
	switch negated := syntax.Args(undecided[0], operators.LogicalNot, 1); {
	case syntax.IsIdent(undecided[0], c.AccuVar()) && c.AccuInit().AsLiteral() == types.True:
		decisive, condition = types.False, 2
	case negated != nil && syntax.IsIdent(negated[0], c.AccuVar()) && c.AccuInit().AsLiteral() == types.False:
		decisive, condition = types.True, 3
	default:
		return node{}, false
	}
	operator := operators.LogicalAnd
	if decisive {
		operator = operators.LogicalOr
	}
	operands := syntax.Args(c.LoopStep(), operator, 2)
	if operands == nil || !syntax.IsIdent(operands[0], c.AccuVar()) {
		return node{}, false
	}
	predicate := p.plan(operands[1])
	return node{eval: quantify(elements, item, predicate.eval, decisive, condition)}, true
}

func quantify(elements closure, slot int, predicate closure, decisive types.Bool, condition uint64) closure {
	return func(f *frame) ref.Val {
		var c cursor
		if !c.begin(elements(f)) {
			return nil
		}
		result := !decisive
		for item, ok := c.advance(); ok; item, ok = c.advance() {
			f.cost += condition
			if result == decisive {
				break
			}
			if f.slots[slot] = plain(item); f.slots[slot] == nil {
				return nil
			}
			f.cost++
			var isBool bool
			if result, isBool = predicate(f).(types.Bool); !isBool || !f.nextIteration() {
				return nil
			}
		}
		f.cost++
		return result
	}
}

// collection plans the expansions of map and filter.
func (p *planner) collection(c ast.ComprehensionExpr, elements closure, slot int) (node, bool) {
	if init := c.AccuInit(); init.Kind() != ast.ListKind || init.AsList().Size() != 0 {
		return node{}, false
	}
	item, test, ok := syntax.Collected(c)
	if !ok {
		return node{}, false
	}
	var accept closure
	if test != nil {
		accept = p.plan(test).eval
	}
	element := p.plan(item)
	// The cost that cel-go charges for each item of the result: reading the accumulator,
	// constructing a list of the new element alone, and adding that list. If the element is a
	// constant, that list is one too, and cel-go charges nothing for constructing it.
	cost := uint64(1 + common.ListCreateBaseCost + 1)
	if element.constant != nil {
		cost -= common.ListCreateBaseCost
	}
	return node{eval: collect(elements, slot, accept, element.eval, cost, p.library.adapter)}, true
}

// collect returns a closure that evaluates element for each item that accept accepts. If accept is
// nil, it accepts all items.
func collect(elements closure, slot int, accept, element closure, cost uint64, adapter types.Adapter) closure {
	return func(f *frame) ref.Val {
		var c cursor
		if !c.begin(elements(f)) {
			return nil
		}
		collected := make([]ref.Val, 0, c.size)
		for item, ok := c.advance(); ok; item, ok = c.advance() {
			if f.slots[slot] = plain(item); f.slots[slot] == nil {
				return nil
			}
			accepted := types.True
			if accept != nil {
				var isBool bool
				if accepted, isBool = accept(f).(types.Bool); !isBool {
					return nil
				}
			}
			if accepted {
				f.cost += cost
				value := element(f)
				if value == nil {
					return nil
				}
				collected = append(collected, value)
			}
			if !f.nextIteration() {
				return nil
			}
		}
		f.cost++
		return types.NewRefValList(adapter, collected)
	}
}

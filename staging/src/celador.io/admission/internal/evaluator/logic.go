// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Logical operators have no cost of their own. If an operand is not a bool, another operand may
// still decide the result; cel-go evaluates such expressions.

func and(terms []node) node { return logical(terms, types.False) }

func or(terms []node) node { return logical(terms, types.True) }

// logical evaluates the terms in order until one has the decisive value.
func logical(terms []node, decisive types.Bool) node {
	if len(terms) == 2 {
		left, right := terms[0].eval, terms[1].eval
		return node{eval: func(f *frame) ref.Val {
			if v := left(f); v != !decisive {
				return only(v, decisive)
			}
			return boolean(right(f))
		}}
	}
	return node{eval: func(f *frame) ref.Val {
		for _, term := range terms {
			if v := term.eval(f); v != !decisive {
				return only(v, decisive)
			}
		}
		return !decisive
	}}
}

// only returns v if it equals expected, and declines otherwise.
func only(v ref.Val, expected types.Bool) ref.Val {
	if v != expected {
		return nil
	}
	return v
}

// boolean returns v if it is a bool, and declines otherwise.
func boolean(v ref.Val) ref.Val {
	if _, ok := v.(types.Bool); !ok {
		return nil
	}
	return v
}

// conditional returns an attribute, because cel-go selects fields of a conditional from the branch.
func conditional(condition, yes, no node) node {
	decide, truthy, falsy := condition.eval, yes.nested(), no.nested()
	return (&attribute{base: func(f *frame) ref.Val {
		switch decide(f) {
		case types.True:
			return truthy(f)
		case types.False:
			return falsy(f)
		default:
			return nil
		}
	}}).node()
}

// nested returns the step for a node that is a branch of a conditional.
func (n node) nested() step {
	if n.attribute != nil {
		return n.attribute.nested()
	}
	return n.eval
}

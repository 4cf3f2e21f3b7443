// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Logical operators cost nothing themselves. An operand that is not a bool is an error,
// which the other operands may make up for: that is left to cel-go.

func and(terms []node) node { return logical(terms, types.False) }

func or(terms []node) node { return logical(terms, types.True) }

// logical goes on to the next term until one has the decisive value.
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

// only declines everything but the given bool.
func only(v ref.Val, wanted types.Bool) ref.Val {
	if v != wanted {
		return nil
	}
	return v
}

// boolean declines what is not a bool.
func boolean(v ref.Val) ref.Val {
	if _, ok := v.(types.Bool); !ok {
		return nil
	}
	return v
}

// conditional is an attribute: what is selected from it is selected from its branches.
func conditional(condition, yes, no node) node {
	decide, truthy, falsy := condition.eval, yes.part(), no.part()
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

// part evaluates a node as a branch of a conditional.
func (n node) part() step {
	if n.attribute != nil {
		return n.attribute.part()
	}
	return n.eval
}

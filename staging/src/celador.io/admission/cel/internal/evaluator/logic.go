// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Logical operators have no cost of their own. If an operand is not a bool, another operand may
// still decide the result. The closures decline then, and cel-go evaluates the expression.

// logical plans && and ||: it evaluates the terms in order until one has the decisive value, which
// is false for && and true for ||.
func logical(terms []node, decisive types.Bool) node {
	if len(terms) == 2 {
		left, right := terms[0].eval, terms[1].eval
		return node{eval: func(f *frame) ref.Val {
			v := left(f)
			// Comparing values of the type ref.Val takes several times as long.
			switch b, ok := v.(types.Bool); {
			case !ok:
				return nil
			case b == decisive:
				return v
			default:
				return boolean(right(f))
			}
		}}
	}
	return node{eval: func(f *frame) ref.Val {
		for _, term := range terms {
			v := term.eval(f)
			switch b, ok := v.(types.Bool); {
			case !ok:
				return nil
			case b == decisive:
				return v
			}
		}
		return !decisive
	}}
}

// boolean returns v if it is a bool, and declines otherwise.
func boolean(v ref.Val) ref.Val {
	if _, ok := v.(types.Bool); !ok {
		return nil
	}
	return v
}

// conditional plans 'condition ? yes : no'. It returns an attribute, because cel-go applies the
// selections and indexes that follow a conditional to the branch that it chooses.
func conditional(condition, yes, no node) node {
	decide, truthy, falsy := condition.eval, yes.nested(), no.nested()
	return node{attribute: &attribute{base: func(f *frame) ref.Val {
		switch decided, ok := decide(f).(types.Bool); {
		case !ok:
			return nil
		case bool(decided):
			return truthy(f)
		default:
			return falsy(f)
		}
	}}}
}

// nested returns the closure for a node that is a branch of a conditional or an index. It leaves
// out the cost of reading the base of an attribute, because cel-go does not charge it there.
func (n node) nested() closure {
	if n.attribute != nil {
		return n.attribute.resolve(0)
	}
	return n.eval
}

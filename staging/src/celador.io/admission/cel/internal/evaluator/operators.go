// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/limits"
)

// specialized returns a node that computes the result of a function itself, without calling the
// implementation, if the operands have the types that policies mostly use. For operands of other
// types, the node of a comparison calls the implementation, and other nodes decline. specialized
// returns false for a function without such a node.
func (c *functionCall) specialized(function, overload string, args []node, library *Library) (node, bool) {
	switch function {
	case operators.Less:
		return c.comparison(args, func(l, r types.Int) bool { return l < r }), true
	case operators.LessEquals:
		return c.comparison(args, func(l, r types.Int) bool { return l <= r }), true
	case operators.Greater:
		return c.comparison(args, func(l, r types.Int) bool { return l > r }), true
	case operators.GreaterEquals:
		return c.comparison(args, func(l, r types.Int) bool { return l >= r }), true
	case operators.LogicalNot:
		return c.negation(args[0]), true
	}
	switch overload {
	case overloads.StartsWithString:
		return c.affix(args, strings.HasPrefix), true
	case overloads.EndsWithString:
		return c.affix(args, strings.HasSuffix), true
	case overloads.Matches, overloads.MatchesString:
		return c.pattern(args, library)
	}
	return node{}, false
}

func (c *functionCall) comparison(args []node, ints func(l, r types.Int) bool) node {
	left := args[0].eval
	if bound, ok := args[1].constant.(types.Int); ok {
		other := args[1].constant
		return node{eval: func(f *frame) ref.Val {
			l := left(f)
			if a, ok := l.(types.Int); ok {
				f.cost++
				return types.Bool(ints(a, bound))
			}
			if l == nil {
				return nil
			}
			return c.binary(f, l, other)
		}}
	}
	right := args[1].eval
	return node{eval: func(f *frame) ref.Val {
		l, r := operands(f, left, right)
		if r == nil {
			return nil
		}
		if a, ok := l.(types.Int); ok {
			if b, ok := r.(types.Int); ok {
				f.cost++
				return types.Bool(ints(a, b))
			}
		}
		return c.binary(f, l, r)
	}}
}

func (c *functionCall) negation(arg node) node {
	return node{eval: func(f *frame) ref.Val {
		value := arg.eval(f)
		if b, ok := value.(types.Bool); ok {
			f.cost++
			return !b
		}
		return nil
	}}
}

// affix plans startsWith and endsWith.
func (c *functionCall) affix(args []node, found func(text, affix string) bool) node {
	text, affix := args[0].eval, args[1].eval
	if fixed, ok := args[1].constant.(types.String); ok {
		wanted, cost := string(fixed), traversal(size(fixed))
		return node{eval: func(f *frame) ref.Val {
			if t, ok := text(f).(types.String); ok {
				f.cost += cost
				return types.Bool(found(string(t), wanted))
			}
			return nil
		}}
	}
	return node{eval: func(f *frame) ref.Val {
		if t, ok := text(f).(types.String); ok {
			if a, ok := affix(f).(types.String); ok {
				f.cost += traversal(length(a))
				return types.Bool(found(string(t), string(a)))
			}
		}
		return nil
	}}
}

// pattern plans matches with a constant pattern, which it compiles once. It returns false for
// patterns that are not constant or do not compile.
func (c *functionCall) pattern(args []node, library *Library) (node, bool) {
	source, ok := args[1].constant.(types.String)
	if !ok {
		return node{}, false
	}
	compiled, err := library.regex(string(source))
	if err != nil {
		return node{}, false
	}
	text := args[0].eval
	return node{eval: func(f *frame) ref.Val {
		if t, ok := text(f).(types.String); ok {
			cost := match([]ref.Val{t, source}, nil)
			if f.cost += cost; cost > f.limit {
				return nil
			}
			return types.Bool(compiled.MatchString(string(t)))
		}
		return nil
	}}, true
}

// equality plans == and, if equal is false, !=.
func equality(args []node, equal bool) node {
	left, right := args[0].eval, args[1].eval
	return node{eval: func(f *frame) ref.Val {
		l, r := operands(f, left, right)
		if r == nil {
			return nil
		}
		switch a := l.(type) {
		case types.String:
			if b, ok := r.(types.String); ok {
				f.cost += traversal(min(length(a), length(b)))
				return types.Bool((a == b) == equal)
			}
		case types.Int:
			if b, ok := r.(types.Int); ok {
				f.cost++
				return types.Bool((a == b) == equal)
			}
		case types.Bool:
			if b, ok := r.(types.Bool); ok {
				f.cost++
				return types.Bool((a == b) == equal)
			}
		}
		if limits.Equality(f, l, r) != nil {
			return nil
		}
		result := types.Equal(l, r)
		f.cost += equalityCost(l, r, result, equal)
		if equal {
			return plain(result)
		}
		return types.Bool(result != types.True)
	}}
}

func equalityCost(l, r, result ref.Val, equal bool) uint64 {
	if equal {
		if cost := estimator.CallCost(operators.Equals, overloads.Equals, []ref.Val{l, r}, result); cost != nil {
			return *cost
		}
	}
	return traversal(min(size(l), size(r)))
}

// membership plans the operator in for a constant list of scalars, whose lookup cel-go does not
// charge. It returns false for other lists.
func membership(arg node, list ref.Val) (node, bool) {
	members, ok := scalars(list)
	if !ok {
		return node{}, false
	}
	if len(members) == 0 {
		return constant(types.False), true
	}
	eval := arg.eval
	return node{eval: func(f *frame) ref.Val {
		value := eval(f)
		if value == nil {
			return nil
		}
		_, found := members[value]
		return types.Bool(found)
	}}, true
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/cel/internal/syntax"
)

func (p *planner) call(e ast.Expr) node {
	call := e.AsCall()
	exprs, function := syntax.Operands(call), call.FunctionName()
	switch function {
	case operators.Index:
		return p.index(exprs[0], exprs[1], false)
	case operators.OptIndex, operators.OptSelect:
		return p.index(exprs[0], exprs[1], true)
	}
	reference, ok := p.reference(e)
	if !ok {
		panic(unsupported("unchecked call of %s", function))
	}
	args := p.planAll(exprs)
	// If the reference has several overloads, cel-go selects one at run time by the types of the
	// arguments, and charges the cost of a call without an overload ID.
	overload := ""
	if len(reference.OverloadIDs) == 1 {
		overload = reference.OverloadIDs[0]
	}

	switch function {
	case operators.LogicalAnd:
		return logical(args, types.False)
	case operators.LogicalOr:
		return logical(args, types.True)
	case operators.Conditional:
		return conditional(args[0], args[1], args[2])
	case operators.Equals:
		return equality(args, true)
	case operators.NotEquals:
		return equality(args, false)
	case "or", "orValue":
		return alternative(args[0], args[1], function == "orValue")
	case "optional.none":
		return none()
	}
	implementation := p.library.Find(function, overload)
	if e.ID() == p.appends {
		implementation = p.library.appending
	}
	if implementation == nil {
		panic(unsupported("function %s without implementation", function))
	}
	if function == operators.In && overload == overloads.InList && args[1].constant != nil {
		if n, ok := membership(args[0], args[1].constant); ok {
			return n
		}
	}
	cost, err := p.library.costOf(function, overload, len(args))
	if err != nil {
		panic(unsupported("function %s: %v", function, err))
	}
	implementation, err = p.library.compiled(function, args, implementation)
	if err != nil {
		panic(unsupported("pattern: %v", err))
	}
	c := &functionCall{implementation, cost, limits.Of(function)}
	if n, ok := c.specialized(function, overload, args, p.library); ok {
		return n
	}
	n := c.node(args)
	if overloads.IsTypeConversionFunction(function) && len(args) == 1 && args[0].constant != nil {
		n.fold()
		if n.constant == nil {
			panic(unsupported("conversion of a constant that fails"))
		}
	}
	return n
}

// A functionCall calls a strict function: one that is called only if no argument is an error or an
// unknown.
type functionCall struct {
	*functions.Overload
	costFunc costFunc
	// guard is nil for functions that cannot exceed a limit.
	guard *limits.Guard
}

func (c *functionCall) node(args []node) node {
	switch {
	case len(args) == 1 && c.Unary != nil:
		arg := args[0].eval
		return node{eval: func(f *frame) ref.Val {
			value := arg(f)
			if value == nil {
				return nil
			}
			return c.unary(f, value)
		}}
	case len(args) == 2 && c.Binary != nil:
		left, right := args[0].eval, args[1].eval
		return node{eval: func(f *frame) ref.Val {
			l, r := operands(f, left, right)
			if r == nil {
				return nil
			}
			return c.binary(f, l, r)
		}}
	case c.Function != nil:
		return node{eval: func(f *frame) ref.Val {
			values := make([]ref.Val, len(args))
			for i, arg := range args {
				if values[i] = arg.eval(f); values[i] == nil {
					return nil
				}
			}
			if len(args) > 0 && !c.mayCall(f, values[0]) || c.guard != nil && c.guard.Before(f, values) != nil {
				return nil
			}
			value := c.checkResult(f, c.Function(values...))
			if value == nil {
				return nil
			}
			f.cost += c.cost(values, value)
			return value
		}}
	default:
		return node{eval: func(*frame) ref.Val { return nil }}
	}
}

// operands evaluates both operands of an operator, in order. r is nil if one of them declines.
func operands(f *frame, left, right closure) (l, r ref.Val) {
	if l = left(f); l == nil {
		return nil, nil
	}
	return l, right(f)
}

func (c *functionCall) unary(f *frame, arg ref.Val) ref.Val {
	if !c.mayCall(f, arg) || c.guard != nil && c.guard.Before(f, []ref.Val{arg}) != nil {
		return nil
	}
	value := c.checkResult(f, c.Unary(arg))
	if value == nil {
		return nil
	}
	// Passing the argument to costFunc would allocate a slice.
	if c.costFunc == nil {
		f.cost++
	} else {
		f.cost += c.costFunc([]ref.Val{arg}, value)
	}
	return value
}

func (c *functionCall) binary(f *frame, left, right ref.Val) ref.Val {
	if !c.mayCall(f, left) || c.guard != nil && c.guard.BeforePair(f, left, right) != nil {
		return nil
	}
	var value ref.Val
	if c.Binary != nil {
		value = c.checkResult(f, c.Binary(left, right))
	} else {
		value = c.checkResult(f, c.Function(left, right))
	}
	if value == nil {
		return nil
	}
	if c.costFunc == nil {
		f.cost++
	} else {
		f.cost += c.costFunc([]ref.Val{left, right}, value)
	}
	return value
}

// checkResult returns the result, or nil to decline if it is an error or an unknown, or exceeds a
// limit.
func (c *functionCall) checkResult(f *frame, result ref.Val) ref.Val {
	value := plain(result)
	if value == nil || c.guard != nil && c.guard.After(f, value) != nil {
		return nil
	}
	return value
}

// mayCall reports whether the function may be called. It returns false if cel-go would dispatch the
// call to its first argument as the receiver, or if the expression has exceeded its cost limit:
// cel-go has then ended the evaluation and does not call the authorizer any more.
func (c *functionCall) mayCall(f *frame, first ref.Val) bool {
	if f.exhausted() {
		return false
	}
	return c.OperandTrait == 0 || first.Type().HasTrait(c.OperandTrait)
}

func (c *functionCall) cost(args []ref.Val, result ref.Val) uint64 {
	if c.costFunc == nil {
		return 1
	}
	return c.costFunc(args, result)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"math"
	"strconv"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// trackers returns the costs of functions whose libraries register a cost tracker with cel-go but
// do not export it, such as sets, most of lists, and the functions of conversion rules. To let
// cel-go count, it evaluates a program that consists of one call, in which variables stand for the
// arguments and the known result replaces the function. Programs are planned on first use.
type trackers struct {
	env      *cel.Env
	programs sync.Map // from trackedCall to *tracker
}

// A trackedCall identifies the calls that a tracker is for.
type trackedCall struct {
	function, overload string
	arguments          int
}

// A tracker returns the cost of the calls of an overload.
type tracker struct {
	program cel.Program
	// read is the cost of reading the arguments.
	read uint64
}

// cost returns the cost function of a call, or an error if cel-go cannot plan the call.
func (t *trackers) cost(call trackedCall) (costFunc, error) {
	if known, ok := t.programs.Load(call); ok {
		return known.(*tracker).cost, nil
	}
	factory := ast.NewExprFactory()
	arguments, references := make([]ast.Expr, call.arguments), map[int64]*ast.ReferenceInfo{}
	for i := range arguments {
		id, name := int64(i+2), strconv.Itoa(i)
		arguments[i], references[id] = factory.NewIdent(id, name), ast.NewIdentReference(name, nil)
	}
	if call.overload != "" {
		references[1] = ast.NewFunctionReference(call.overload)
	}
	checked := ast.NewCheckedAST(ast.NewAST(factory.NewCall(1, call.function, arguments...), nil), map[int64]*types.Type{}, references)
	program, err := t.env.PlanProgram(checked, cel.CostLimit(math.MaxUint64), cel.CustomDecoratorV2(answer))
	if err != nil {
		return nil, err
	}
	planned, _ := t.programs.LoadOrStore(call, &tracker{program, uint64(call.arguments)})
	return planned.(*tracker).cost, nil
}

// cost implements costFunc.
func (t *tracker) cost(args []ref.Val, result ref.Val) uint64 {
	_, details, err := t.program.Eval(called{args, result})
	if cost := details.ActualCost(); err == nil && cost != nil {
		return *cost - t.read
	}
	return math.MaxUint32 // more than any limit, so that cel-go evaluates the expression
}

// called is the activation with which a tracker evaluates its call: the arguments, and the known
// result.
type called struct {
	args   []ref.Val
	result ref.Val
}

// result is the name of the result in a called activation. Arguments have their position as name.
const result = "result"

// ResolveName implements interpreter.Activation.
func (c called) ResolveName(name string) (any, bool) {
	if name == result {
		return c.result, true
	}
	i, err := strconv.Atoi(name)
	if err != nil || i >= len(c.args) {
		return nil, false
	}
	return c.args[i], true
}

// Parent implements interpreter.Activation.
func (called) Parent() interpreter.Activation { return nil }

// answer replaces the function of a call with its known result.
func answer(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if call, ok := node.(interpreter.InterpretableCall); ok {
		return &answered{call, call.Args()}, nil
	}
	return node, nil
}

type answered struct {
	interpreter.InterpretableCall
	args []interpreter.InterpretableV2
}

// Args implements interpreter.InterpretableCall. It does not allocate.
func (a *answered) Args() []interpreter.InterpretableV2 { return a.args }

// Eval implements interpreter.Interpretable.
func (a *answered) Eval(activation interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(activation))
}

// Exec implements interpreter.InterpretableV2. It evaluates the arguments only for cel-go's cost
// tracker, which observes their values, and returns the known result.
func (a *answered) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	for _, arg := range a.args {
		arg.Exec(frame)
	}
	value, _ := frame.ResolveName(result)
	return value.(ref.Val)
}

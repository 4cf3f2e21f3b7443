// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// compilePattern returns the guarded call with its constant pattern compiled. cel-go compiles
// constant patterns after all decorators, and would replace the guarded call.
func compilePattern(call interpreter.InterpretableCall, guard *Guard, pattern *interpreter.RegexOptimization, text string) (interpreter.InterpretableV2, error) {
	var evaluated, opaque []interpreter.InterpretableV2
	for i, arg := range call.Args() {
		evaluated, opaque = append(evaluated, &evaluatedArg{arg, i}), append(opaque, &opaqueArg{arg})
	}
	optimized, err := pattern.Factory(&callOf{call, evaluated}, text)
	if err != nil {
		return nil, err
	}
	return newGuarded(&callOf{call, opaque}, guard, &functions.Overload{Function: func(values ...ref.Val) ref.Val {
		return optimized.Eval(evaluatedArgs(values))
	}}), nil
}

// callOf is a call with other arguments.
type callOf struct {
	interpreter.InterpretableCall
	args []interpreter.InterpretableV2
}

// Args implements interpreter.InterpretableCall.
func (c *callOf) Args() []interpreter.InterpretableV2 { return c.args }

// An opaqueArg hides from cel-go that an argument is constant. cel-go then does not compile the
// pattern and replace the guarded call.
type opaqueArg struct{ interpreter.InterpretableV2 }

// evaluatedArgs holds the values of a call's arguments. It is the activation of the optimized
// call.
type evaluatedArgs []ref.Val

// ResolveName implements interpreter.Activation.
func (evaluatedArgs) ResolveName(string) (any, bool) { return nil, false }

// Parent implements interpreter.Activation.
func (evaluatedArgs) Parent() interpreter.Activation { return nil }

// evaluatedArg reads the value of an argument from evaluatedArgs.
type evaluatedArg struct {
	interpreter.InterpretableV2
	position int
}

// Exec implements interpreter.InterpretableV2.
func (a *evaluatedArg) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return frame.Activation.(evaluatedArgs)[a.position]
}

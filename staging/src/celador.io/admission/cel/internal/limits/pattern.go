// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// compilePattern returns a call of a function with a constant regular expression, such as
// matches(), with the expression compiled and with a guard that checks limits. cel-go itself
// compiles constant patterns after all decorators, and would replace the guarded call.
func compilePattern(call interpreter.InterpretableCall, guard *Guard, pattern *interpreter.RegexOptimization, text string) (interpreter.InterpretableV2, error) {
	var opaque []interpreter.InterpretableV2
	for _, arg := range call.Args() {
		opaque = append(opaque, &opaqueArg{arg})
	}
	implementation, err := Compiled(call, len(opaque), pattern, text)
	if err != nil {
		return nil, err
	}
	return newGuarded(&callOf{call, opaque}, guard, implementation), nil
}

// Compiled returns the implementation of a call of a function with n arguments, with the constant
// pattern among them compiled. It returns an error if the pattern is invalid.
func Compiled(call interpreter.InterpretableCall, n int, pattern *interpreter.RegexOptimization, text string) (*functions.Overload, error) {
	evaluated := make([]interpreter.InterpretableV2, n)
	for i := range evaluated {
		evaluated[i] = evaluatedArg(i)
	}
	optimized, err := pattern.Factory(&callOf{call, evaluated}, text)
	if err != nil {
		return nil, err
	}
	return &functions.Overload{Function: func(values ...ref.Val) ref.Val { return optimized.Eval(evaluatedArgs(values)) }}, nil
}

// callOf is a call whose arguments are replaced.
type callOf struct {
	interpreter.InterpretableCall
	args []interpreter.InterpretableV2
}

// Args implements interpreter.InterpretableCall.
func (c *callOf) Args() []interpreter.InterpretableV2 { return c.args }

// An opaqueArg hides from cel-go that an argument is constant. cel-go then does not compile the
// pattern and replace the guarded call.
type opaqueArg struct{ interpreter.InterpretableV2 }

// evaluatedArgs holds the values of a call's arguments. It is the activation with which the call
// with the compiled pattern is evaluated.
type evaluatedArgs []ref.Val

// ResolveName implements interpreter.Activation.
func (evaluatedArgs) ResolveName(string) (any, bool) { return nil, false }

// Parent implements interpreter.Activation.
func (evaluatedArgs) Parent() interpreter.Activation { return nil }

// evaluatedArg reads the value of the argument at its position from evaluatedArgs.
type evaluatedArg int

// ID implements interpreter.Interpretable.
func (a evaluatedArg) ID() int64 { return int64(a) }

// Eval implements interpreter.Interpretable.
func (a evaluatedArg) Eval(activation interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(activation))
}

// Exec implements interpreter.InterpretableV2.
func (a evaluatedArg) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return frame.Activation.(evaluatedArgs)[a]
}

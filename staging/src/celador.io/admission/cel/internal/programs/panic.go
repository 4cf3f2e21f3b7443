// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/panics"
)

// recovered is the prefix of the errors into which cel-go turns panics.
const recovered = "internal error: "

// recordPanics records a panic during the evaluation of an expression, if there was one. panicked
// is the panic of the closures that evaluated the expression first, or nil, and err the error of
// cel-go. If cel-go has panicked, too, recordPanics records only the panic of cel-go. Otherwise the
// panic of the closures is a defect of the evaluator, which the result of cel-go hides.
func (p *Program) recordPanics(ctx context.Context, input evaluator.NameResolver, panicked *evaluator.Panic, err error) {
	if err != nil {
		if text, ok := strings.CutPrefix(err.Error(), recovered); ok && !errors.As(err, new(interpreter.EvalCancelledError)) {
			p.Panics.Record(panics.Interpreter, text, func() []byte { return p.stack(ctx, input) })
			return
		}
	}
	if panicked != nil {
		p.Panics.Record(panics.Evaluator, panicked.Cause, func() []byte { return panicked.Stack })
	}
}

// stack returns the stack of a panic of the interpreter. cel-go drops the stack when it recovers,
// so stack evaluates the expression once more. If that does not panic again, it returns the stack
// of its caller.
func (p *Program) stack(ctx context.Context, input evaluator.NameResolver) (stack []byte) {
	stack = debug.Stack()
	if p.interpreted.later == nil {
		return stack
	}
	env, checked, err := p.interpreted.later()
	if err != nil {
		return stack
	}
	planned, err := observable(env, checked, limits.Decorator(checked, p.interpreted.library))
	if err != nil {
		return stack
	}
	repeat(ctx, input, func(frame *interpreter.ExecutionFrame) {
		defer func() {
			if recover() != nil {
				stack = debug.Stack()
			}
		}()
		planned.Exec(frame)
	})
	return stack
}

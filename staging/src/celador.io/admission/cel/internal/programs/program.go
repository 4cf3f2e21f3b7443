// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/panics"
)

// A Later returns the checked expression of a program again, and an environment in which cel-go can
// plan it. It is called when cel-go is needed, mostly because closures have declined an evaluation.
// It is safe for concurrent use.
type Later func() (*cel.Env, *ast.AST, error)

// A Program is a planned expression. It is safe for concurrent use.
type Program struct {
	// CostLimit is the highest cost of an evaluation. It is set before the program is planned; 0
	// means celconfig.PerCallLimit. Callers pass a meter with the same limit to Evaluate.
	CostLimit uint64
	// closures evaluates the expression or declines. It is the zero Closures if the evaluator does
	// not support the expression.
	closures evaluator.Closures
	// interpreted evaluates the expression when closures decline.
	interpreted interpreted
	// Panics records the panics of the expression. Its Source is set before the
	// first evaluation.
	Panics panics.Recorder
}

// Plan sets program, which must be zero apart from CostLimit and Panics, to the plan of an
// expression that env has checked. It keeps neither env nor the checked expression if the evaluator
// supports the expression and later is not nil.
//
// Plan returns an error if cel-go cannot plan the expression, for example if a constant is not a
// valid duration. If the evaluator supports the expression and later is not nil, cel-go plans it
// only if interpret is set: planning for cel-go takes a multiple of the time.
func (b *Builtins) Plan(env *cel.Env, checked *cel.Ast, scope evaluator.Scope, later Later, interpret bool, program *Program) error {
	if planned, err := b.plan(env, checked, scope); err == nil {
		program.closures = *planned
	}
	program.interpreted.later, program.interpreted.library, program.interpreted.costLimit = later, b.Library, program.CostLimit
	postponed := later != nil && program.Planned() > 0
	if postponed && !interpret {
		return nil
	}
	interpreted, err := instantiate(env, checked.NativeRep(), b.Library, program.CostLimit)
	if err != nil {
		return err
	}
	if !postponed {
		program.interpreted.planned.Store(&interpreted)
	}
	return nil
}

// plan plans an expression for the evaluator. Planning evaluates constants, and panics if a
// constant map key cannot be hashed, as in {b'a': 1}; plan turns the panic into an error.
func (b *Builtins) plan(env *cel.Env, checked *cel.Ast, scope evaluator.Scope) (planned *evaluator.Closures, err error) {
	defer rescue(&err)
	return evaluator.Plan(env, checked, b.Library, scope)
}

// Planned returns 1 if closures evaluate the expression, and 0 if cel-go's interpreter does, which
// takes several times as long.
func (p *Program) Planned() int { return p.closures.Planned() }

// errCostLimit is cel-go's error for an expression that exceeds the cost limit.
var errCostLimit = interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "operation cancelled: actual cost limit exceeded"}

// A Charge is the CEL cost of an evaluation.
type Charge struct {
	// Cost is valid if Known is set. cel-go does not return the cost of some errors.
	Cost  uint64
	Known bool
	// Interpreted is set if cel-go evaluated the program.
	Interpreted bool
}

// Evaluate evaluates the program. memory holds the state of closures while they run, and may be
// used again afterwards. meter is the meter to which input resolves limits.MeterName. Cancelling
// ctx interrupts the evaluation if it also closes the Done channel of the meter. An evaluation that
// fails has a charge, too.
//
// stop determines what happens when closures exceed the cost limit. If stop is not set, cel-go
// evaluates the expression from the beginning, and takes about ten times as long to reach the
// limit. If stop is set, Evaluate returns the error of the limit at once. Closures charge some
// costs earlier than cel-go, so an expression that fails close to the limit may then have another
// error than cel-go's.
func (p *Program) Evaluate(ctx context.Context, input evaluator.NameResolver, memory *evaluator.Stack, meter *limits.Meter, stop bool) (value ref.Val, charge Charge, err error) {
	before := meter.Mark()
	value, cost, ok := p.closures.Evaluate(memory, meter.Done, meter.MaxCost(), input)
	if ok {
		return value, Charge{Cost: cost, Known: true}, nil
	}
	if stop && cost > meter.MaxCost() {
		return nil, Charge{Cost: cost, Known: true}, errCostLimit
	}
	panicked := memory.Panicked()
	meter.Repeat(before)
	program, err := p.interpreted.program()
	if err != nil {
		return nil, Charge{}, err
	}
	value, details, err := program.ContextEval(ctx, input)
	p.recordPanics(ctx, input, panicked, err)
	charge.Interpreted = true
	if actual := details.ActualCost(); actual != nil {
		charge.Cost, charge.Known = *actual, true
		return value, charge, err
	}
	return nil, charge, err
}

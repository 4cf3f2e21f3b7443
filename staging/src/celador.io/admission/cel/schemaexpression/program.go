// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"context"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/programs"
)

// A Program is a planned expression. It is safe for concurrent use. Expressions share programs.
type Program struct {
	output       *cel.Type
	readsOldSelf bool
	// names is the digest of the names of object types in the scope, if the expression depends on
	// them, and otherwise zero. Scopes with other names share the program only if it is zero.
	names programs.Digest
	programs.Program
	// err is set if the expression cannot be planned.
	err error
}

// An EvaluationResult is the result, or the error, of one evaluation of a program, with its cost.
type EvaluationResult struct {
	// Value is the result. Nil if Err is set.
	Value ref.Val
	// Cost is the CEL cost. It is valid if HasCost is set, also if Err is.
	Cost    uint64
	HasCost bool
	// Err is cel-go's error, for example 'no such key: a'.
	Err error
}

// Source returns the text of the expression.
func (p *Program) Source() string { return p.Panics.Source }

// memories holds evaluator.Stack values, which evaluations use and give back. An Activation serves
// too few evaluations to have one of its own.
var memories = sync.Pool{New: func() any { return &evaluator.Stack{} }}

// Evaluate evaluates the program with the variables of in. Cancelling ctx interrupts it. An
// evaluation that costs more than Scope.CostLimit ends with an error, and so does one that exceeds
// the limits of package limits together with earlier evaluations of the same Activation.
func (p *Program) Evaluate(ctx context.Context, in *Activation) EvaluationResult {
	if err := in.meter.Err(); err != nil {
		return EvaluationResult{HasCost: true, Err: err}
	}
	in.meter.Done, in.meter.CostLimit = ctx.Done(), p.CostLimit
	memory := memories.Get().(*evaluator.Stack)
	value, charge, err := p.Program.Evaluate(ctx, in, memory, &in.meter, in.StopAtCostLimit)
	memories.Put(memory)
	if err != nil {
		value = nil
	}
	return EvaluationResult{value, charge.Cost, charge.Known, err}
}

// EvaluateShared evaluates the program of a shared variable, as Evaluate does. It may be called
// during another evaluation with the same Activation, for the expression that reads the variable.
func (p *Program) EvaluateShared(ctx context.Context, in *Activation) EvaluationResult {
	before := in.meter.Mark()
	evaluation := p.Evaluate(ctx, in)
	in.meter.Keep(before)
	return evaluation
}

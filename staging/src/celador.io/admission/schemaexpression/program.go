// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"context"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// A Program is a planned expression. It is safe for concurrent use.
type Program struct {
	source  string
	program cel.Program
}

// An Evaluation is the outcome of evaluating a program.
type Evaluation struct {
	// Value is the result. Nil if Err is set.
	Value ref.Val
	// Cost is the CEL cost. It is valid if HasCost is set, also if Err is.
	Cost    uint64
	HasCost bool
	// Err is cel-go's error, for example 'no such key: a'.
	Err error
}

// Source returns the text of the expression.
func (p *Program) Source() string { return p.source }

// Evaluate evaluates the program with the variables of in. Cancelling ctx interrupts it. An evaluation that costs more
// than celconfig.PerCallLimit ends with an error.
func (p *Program) Evaluate(ctx context.Context, in *Activation) Evaluation {
	value, details, err := p.program.ContextEval(ctx, in)
	e := Evaluation{Value: value, Err: err}
	if err != nil {
		e.Value = nil
	}
	if cost := details.ActualCost(); cost != nil {
		e.Cost, e.HasCost = *cost, true
	}
	return e
}

// An Activation holds the values of the variables of one scope. Programs that share an Activation share what its
// values cache. It is not safe for concurrent use.
type Activation struct {
	// Self is the value of self.
	Self ref.Val
	// OldSelf is the value of oldSelf. Nil if the scope does not declare it.
	OldSelf ref.Val
}

// ResolveName implements interpreter.Activation.
func (a *Activation) ResolveName(name string) (any, bool) {
	switch name {
	case Self:
		return a.Self, a.Self != nil
	case OldSelf:
		return a.OldSelf, a.OldSelf != nil
	default:
		return nil, false
	}
}

// Parent implements interpreter.Activation.
func (*Activation) Parent() interpreter.Activation { return nil }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/evaluator"
	"celador.io/admission/limits"
)

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	source string
	output *cel.Type
	// closures evaluates the expression, or declines. It is empty if it would always decline.
	closures evaluator.Program
	// interpreted evaluates the expression when closures decline.
	interpreted interpreted
}

// Source returns the text of the expression.
func (p *Program) Source() string { return p.source }

// OutputType returns the type of the result, as far as it is known without data.
func (p *Program) OutputType() *cel.Type { return p.output }

// Planned returns 1 if the program can be evaluated without cel-go's interpreter, else 0.
func (p *Program) Planned() int { return p.closures.Planned() }

// ErrOutOfBudget is the cause of errors that end a series of evaluations because
// they cost too much, or because what they cost is not known.
var ErrOutOfBudget = apiservercel.ErrOutOfBudget

// Evaluate runs the program and charges the budget of the series with what it cost.
//
// An error for which IsFatal is false concerns this expression alone. After a fatal
// one, nothing more may be evaluated in the same series.
func (p *Program) Evaluate(s *Series) (ref.Val, error) {
	o := s.outcome(p)
	if !o.known {
		return nil, &fatal{&apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: fmt.Sprintf("runtime cost could not be calculated for expression: %v, no further expression will be run", p.source),
			Cause:  ErrOutOfBudget,
		}}
	}
	budget := s.budget
	// The budget also pays for the variables that this expression was first to read.
	budget.owe(o.cost)
	if charged := budget.settle(); charged != nil {
		return nil, charged
	}
	if o.err != nil {
		return nil, p.failed(o.err)
	}
	if err := limits.Result(o.value); err != nil {
		return nil, p.failed(err)
	}
	return o.value, nil
}

// failed returns the error to report for this expression.
func (p *Program) failed(err error) error {
	return &apiservercel.Error{
		Type:   apiservercel.ErrorTypeInvalid,
		Detail: fmt.Sprintf("expression '%v' resulted in error: %v", p.source, err),
	}
}

func (p *Program) run(s *Series) outcome {
	if err := s.next(); err != nil {
		return outcome{known: true, err: err}
	}
	before := s.meter.Mark()
	if value, cost, ok := p.closures.Evaluate(s.meter.Done, s); ok {
		return outcome{value: value, cost: cost, known: true}
	}
	s.meter.Repeat(before)
	program, err := p.interpreted.program()
	if err != nil {
		return outcome{err: err}
	}
	value, details, err := program.ContextEval(s.ctx, s)
	if actual := details.ActualCost(); actual != nil {
		return outcome{value: value, cost: *actual, known: true, err: err}
	}
	return outcome{err: err}
}

// Budget is the CEL cost that a series of evaluations may still cause. Not safe
// for concurrent use.
type Budget struct {
	remaining int64
	owed      int64
}

// NewBudget returns a budget of the given number of CEL cost units.
func NewBudget(units int64) *Budget { return &Budget{remaining: units} }

// Remaining returns the cost units that are left, or -1 once they were exceeded.
func (b *Budget) Remaining() int64 { return b.remaining }

func (b *Budget) owe(cost uint64) {
	if cost > math.MaxInt64 || b.owed > math.MaxInt64-int64(cost) {
		b.owed = math.MaxInt64
		return
	}
	b.owed += int64(cost)
}

func (b *Budget) settle() error {
	if b.owed > b.remaining {
		b.remaining, b.owed = -1, 0
		return &fatal{&apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: "validation failed due to running out of cost budget, no further validation rules will be run",
			Cause:  ErrOutOfBudget,
		}}
	}
	b.remaining, b.owed = b.remaining-b.owed, 0
	return nil
}

type fatal struct{ error }

func (f *fatal) Unwrap() error { return f.error }

// IsFatal says whether an error of Evaluate ends the whole series of evaluations.
func IsFatal(err error) bool {
	if err == nil {
		return false
	}
	var f *fatal
	return errors.As(err, &f)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/limits"
	"celador.io/admission/cel/internal/programs"
)

// A Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	// number identifies the program in Results, where its remainder is the index of the program's
	// entry. It is the first field, because evaluations read it together with the closures: a
	// program out of the processor's caches then costs one read of memory.
	number uint32
	// perRequest is set if the value is the same for all policies with equal variables, so that
	// they may share it through Results.
	perRequest bool
	// readsOldSelf is set if the expression reads 'oldSelf'.
	readsOldSelf bool
	// readsRequestTime is set if the expression reads request.time.
	readsRequestTime bool
	// readsPath is set if the expression reads 'path'.
	readsPath bool
	// finds is set if the expression calls list() or indexed() of a lookup.
	finds bool
	// recurring is set once two series of one request have evaluated the program, and is never
	// reset. Results keep values of recurring programs only: keeping those of others would take as
	// long as evaluating them.
	recurring atomic.Bool
	programs.Program
	output *cel.Type
	// paramFields holds the fields of 'params' that subexpressions read, by the IDs of the
	// subexpressions, for a better error if there is no param. It is empty if the expression reads
	// no field of 'params'.
	paramFields map[int64]string
}

// Source returns the text of the expression.
func (p *Program) Source() string { return p.Panics.Source }

// ReadsOldSelf reports whether the expression reads 'oldSelf'.
func (p *Program) ReadsOldSelf() bool { return p.readsOldSelf }

// ReadsRequestTime reports whether the expression reads request.time. It does not find reads of
// dynamic values, such as dyn(request).time.
func (p *Program) ReadsRequestTime() bool { return p.readsRequestTime }

// ReadsPath reports whether the expression reads 'path'.
func (p *Program) ReadsPath() bool { return p.readsPath }

// OutputType returns the static type of the result.
func (p *Program) OutputType() *cel.Type { return p.output }

// ErrOutOfBudget is the cause of fatal errors: the cost exceeds the budget, or cel-go did not
// return the cost.
var ErrOutOfBudget = apiservercel.ErrOutOfBudget

// Prefetch reads the memory with which an evaluation begins, so that it is in the processor's
// caches. It does not wait for the memory.
func (p *Program) Prefetch() {
	p.recurring.Load() // atomic, because the compiler drops other reads whose result is not used
}

// Evaluate evaluates the program and charges its cost to the budget of the series, together with
// the cost of variables that no earlier expression of the series has read.
//
// If IsFatal returns true for the error, no further expression of the series may be evaluated. Any
// other error concerns this expression alone.
func (p *Program) Evaluate(s *Series) (ref.Val, error) {
	value, charge, err := p.run(s)
	if !charge.Known {
		return nil, &fatal{&apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: fmt.Sprintf("runtime cost could not be calculated for expression: %v, no further expression will be run", p.Source()),
			Cause:  ErrOutOfBudget,
		}}
	}
	// The variables that this expression was the first to read have added their costs already.
	s.budget.add(charge.Cost)
	if exceeded := s.budget.charge(); exceeded != nil {
		return nil, exceeded
	}
	if err == nil {
		err = limits.Result(value)
	}
	if err != nil {
		return nil, &apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: fmt.Sprintf("expression '%v' resulted in error: %v", p.Source(), err),
			Cause:  err, // tells an interruption (interpreter.InterruptError) from other errors
		}
	}
	return value, nil
}

// run evaluates the program or finds its value in the results of the series. It does not charge the
// cost. It returns three values instead of a struct, because a struct of this size is passed in
// memory, which is slower.
func (p *Program) run(s *Series) (ref.Val, programs.Charge, error) {
	if err := s.next(); err != nil {
		return nil, programs.Charge{Known: true}, err
	}
	if s.results != nil && p.perRequest && s.results.recurs(p) {
		return s.shared(p)
	}
	if p.finds {
		return p.find(s)
	}
	return p.evaluate(s)
}

func (p *Program) evaluate(s *Series) (ref.Val, programs.Charge, error) {
	value, charge, err := p.Program.Evaluate(s.ctx, s, &s.memory, &s.meter, s.meter.CostLimit > 0)
	if err != nil {
		err = p.explain(s, err)
	}
	return value, charge, err
}

// find is evaluate for a program that calls list() or indexed() of a lookup.
func (p *Program) find(s *Series) (ref.Val, programs.Charge, error) {
	costs := s.lookupCosts()
	if costs == nil { // nothing can be looked up
		return p.evaluate(s)
	}
	outer := *costs // of the expression that reads the variable whose expression this is
	*costs = LookupCosts{}
	value, charge, err := p.evaluate(s)
	if err != nil {
		repeated := 1
		if charge.Interpreted {
			repeated += p.Planned() // cel-go has made the calls of the closures again
		}
		err = costs.explain(err, repeated)
	}
	*costs = outer
	return value, charge, err
}

// A Budget is the CEL cost that a series of evaluations may still spend. It is not safe for
// concurrent use.
type Budget struct {
	remaining int64
	pending   int64
}

// NewBudget returns a budget of the given number of CEL cost units.
func NewBudget(units int64) *Budget { return &Budget{remaining: units} }

// Remaining returns the remaining cost units, or -1 once they were exceeded.
func (b *Budget) Remaining() int64 { return b.remaining }

func (b *Budget) add(cost uint64) {
	if cost > math.MaxInt64 || b.pending > math.MaxInt64-int64(cost) {
		b.pending = math.MaxInt64
		return
	}
	b.pending += int64(cost)
}

func (b *Budget) charge() error {
	if b.pending > b.remaining {
		b.remaining, b.pending = -1, 0
		return &fatal{&apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: "validation failed due to running out of cost budget, no further validation rules will be run",
			Cause:  ErrOutOfBudget,
		}}
	}
	b.remaining, b.pending = b.remaining-b.pending, 0
	return nil
}

type fatal struct{ error }

func (f *fatal) Unwrap() error { return f.error }

// IsFatal reports whether an error of Evaluate ends the series of evaluations.
func IsFatal(err error) bool { return err != nil && errors.As(err, new(*fatal)) }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/lazy"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/fingerprint"
	"celador.io/admission/cel/internal/limits"
)

// A Series is a sequence of evaluations that share the variables of a policy and a cost budget. A
// variable is evaluated on its first read, and its cost is charged to the budget. A variable that
// fails to evaluate fails only the expressions that read it. A Series is not safe for concurrent
// use.
type Series struct {
	interpreter.Activation
	ctx    context.Context
	memory evaluator.Stack
	// meter bounds the memory and the comparisons of the series.
	meter limits.Meter
	// evaluated counts the evaluated expressions, including variables.
	evaluated int
	variables []Variable
	// values holds the values of the variables that were read, by position. It is empty until a
	// variable is read.
	values []ref.Val
	// object is the value of 'variables' in cel-go's programs.
	object ref.Val
	budget *Budget
	// results holds values that series of other policies share. It may be nil.
	results *Results
	// reads lists the variables that the current program has read.
	reads variableReads
}

// NewSeries returns a series with the given variables, which must have been prepared with Link. The
// activation resolves all names other than 'variables'. Each evaluation charges budget. Cancelling
// ctx interrupts evaluations.
func NewSeries(ctx context.Context, activation interpreter.Activation, variables []Variable, budget *Budget) *Series {
	s := &Series{}
	s.Begin(ctx, activation, variables, budget)
	return s
}

// Begin ends the series and begins another one in its memory, as NewSeries does.
func (s *Series) Begin(ctx context.Context, activation interpreter.Activation, variables []Variable, budget *Budget) {
	s.End()
	s.Activation, s.ctx, s.meter.Done, s.variables, s.budget = activation, ctx, ctx.Done(), variables, budget
}

// NewIndexSeries returns a series for the evaluation of the index of a lookup.
func NewIndexSeries(activation interpreter.Activation) *Series {
	s := NewSeries(context.Background(), activation, nil, NewBudget(celconfig.PerCallLimit))
	s.meter.CostLimit = maxIndexCost
	return s
}

// End frees the values of the series. The series must not be used any more, except to call Begin.
func (s *Series) End() {
	if fingerprint.Enabled() {
		for _, v := range s.values {
			fingerprint.Released(v)
		}
	}
	clear(s.values)
	// One by one, because an assignment of the whole series would copy its memory.
	s.Activation, s.ctx, s.variables, s.budget, s.object, s.results = nil, nil, nil, nil, nil, nil
	s.meter, s.evaluated, s.reads = limits.Meter{}, 0, variableReads{}
	s.values = s.values[:0]
}

// Charge charges units of cost to the budget of the series, for work that the caller does between
// evaluations. It returns an error for which IsFatal returns true if the budget does not have them.
// The caller must then not do the work.
func (s *Series) Charge(units int) error {
	s.budget.add(uint64(units))
	return s.budget.charge()
}

// next returns an error if no further expression may be evaluated. It checks the context after
// every celconfig.CheckFrequency expressions, as cel-go does for iterations of a comprehension, and
// returns an error with the same text.
func (s *Series) next() error {
	s.evaluated++
	if s.meter.Err() == nil && s.evaluated%celconfig.CheckFrequency != 0 {
		return nil
	}
	return s.ended()
}

// ended returns the error of the limit that the series exceeded or of the context, or nil.
func (s *Series) ended() error {
	if err := s.meter.Err(); err != nil {
		return err
	}
	if err := s.meter.Interrupted(); err != nil {
		return fmt.Errorf("%w: %w", err, context.Cause(s.ctx))
	}
	return nil
}

var variablesType = types.NewObjectType("kubernetes.variables")

// ResolveName implements interpreter.Activation.
func (s *Series) ResolveName(name string) (any, bool) {
	switch name {
	case Variables:
	case limits.MeterName:
		return &s.meter, true
	default:
		return s.Activation.ResolveName(name)
	}
	if s.object == nil {
		object := lazy.NewMapValue(variablesType)
		for i := range s.variables {
			object.Append(s.variables[i].Name, func(*lazy.MapValue) ref.Val { return s.Variable(i) })
		}
		s.object = object
	}
	return s.object, true
}

// errReadsItself is the value of a variable while its expression is evaluated. It has a node ID
// because cel-go writes the ID into errors without one, and this error is shared between requests.
var errReadsItself = types.NewErrWithNodeID(-1, "composited variable reads itself")

// Variable implements evaluator.NameResolver. It evaluates the variable on the first read.
func (s *Series) Variable(i int) ref.Val {
	value := s.variable(i)
	s.reads.add(i)
	return value
}

// variable returns the value of the variable at position i, and evaluates it if it was not read
// yet. Unlike Variable, it does not record the read in s.reads.
func (s *Series) variable(i int) ref.Val {
	if len(s.values) == 0 {
		s.values = slices.Grow(s.values, len(s.variables))[:len(s.variables)]
	}
	v := &s.variables[i]
	if v.replacedBy != 0 {
		i = v.replacedBy
		v = &s.variables[i]
	}
	if s.values[i] == nil {
		outer := s.reads
		s.values[i] = errReadsItself // while the variable is evaluated
		s.values[i] = v.evaluate(s)
		fingerprint.Kept(s.values[i])
		s.reads = outer
	}
	return s.values[i]
}

// A Variable is a compiled variable of a policy, or the reason why it does not compile.
type Variable struct {
	Name    string
	Program *Program
	Err     *apiservercel.Error
	// replacedBy is the position of the last variable with the same name, whose value expressions
	// read instead. It is 0 if this variable is the last. Link sets it.
	replacedBy int
}

// Link prepares the variables of a policy for NewSeries, in place. If several variables have the
// same name, all expressions read the last, including expressions that were compiled before it was
// declared.
func Link(variables []Variable) {
	last := make(map[string]int, len(variables))
	for i := range variables {
		last[variables[i].Name] = i
	}
	for i := range variables {
		if replacement := last[variables[i].Name]; replacement != i {
			variables[i].replacedBy = replacement
		}
	}
}

func (v *Variable) evaluate(s *Series) ref.Val {
	if v.Err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", v.Name, v.Err)
	}
	before := s.meter.Mark()
	value, charge, err := v.Program.run(s)
	s.meter.Keep(before)
	if !charge.Known {
		return types.NewErr("unable to calculate cost of variable %q", v.Name)
	}
	s.budget.add(charge.Cost)
	if err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", v.Name, err)
	}
	return value
}

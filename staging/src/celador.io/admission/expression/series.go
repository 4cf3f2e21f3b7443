// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"context"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/lazy"

	"celador.io/admission/limits"
)

// Series is a series of evaluations that share the variables of a policy and a budget. A
// variable is evaluated when it is first read, at the expense of the budget. One that
// fails fails only the expressions that read it. Not safe for concurrent use.
type Series struct {
	interpreter.Activation
	ctx context.Context
	// meter bounds the memory and the comparisons of the series.
	meter limits.Meter
	// evaluations counts the evaluated expressions, including variables.
	evaluations int
	variables   []Variable
	// values are those of the variables that were read. Few needs no other memory.
	values []ref.Val
	few    [4]ref.Val
	// object is what 'variables' is for cel-go.
	object ref.Val
	budget *Budget
	// outcomes are nil unless the series is recurring.
	outcomes map[*Program]outcome
}

// NewSeries returns a series with the given variables and budget. The variables must have been
// linked with Link. The activation resolves all other names. A series is not safe for
// concurrent use.
func NewSeries(ctx context.Context, activation interpreter.Activation, variables []Variable, budget *Budget) *Series {
	return &Series{Activation: activation, ctx: ctx, meter: limits.Meter{Done: ctx.Done()}, variables: variables, budget: budget}
}

// next returns an error if no other expression may be evaluated. It checks the context after
// every celconfig.CheckFrequency expressions, as cel-go does after as many rounds of a
// comprehension, and returns an error with the same text.
func (s *Series) next() error {
	if err := s.meter.Err(); err != nil {
		return err
	}
	if s.evaluations++; s.evaluations%celconfig.CheckFrequency != 0 {
		return nil
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

// errReadsItself has an ID because cel-go would set it where it sees the error first.
var errReadsItself = types.NewErrWithNodeID(-1, "composited variable reads itself")

// Variable implements evaluator.Input.
func (s *Series) Variable(i int) ref.Val {
	if s.values == nil {
		if n := len(s.variables); n <= len(s.few) {
			s.values = s.few[:n]
		} else {
			s.values = make([]ref.Val, n)
		}
	}
	v := &s.variables[i]
	if v.replacedBy != 0 {
		i = v.replacedBy
		v = &s.variables[i]
	}
	if s.values[i] == nil {
		s.values[i] = errReadsItself // until there is a value
		s.values[i] = v.evaluate(s)
	}
	return s.values[i]
}

// Variable is a compiled variable of a policy, or the reason why it does not compile.
type Variable struct {
	Name    string
	Program *Program
	Err     *apiservercel.Error
	// replacedBy is the position of the last variable with the same name, or 0 if this variable
	// is the last.
	replacedBy int
}

// Link prepares the variables of a policy for NewSeries. If several variables have the same
// name, all expressions read the last, including expressions that were compiled before it was
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
	o := v.Program.run(s)
	s.meter.Keep(before)
	if !o.known {
		return types.NewErr("unable to calculate cost of variable %q", v.Name)
	}
	s.budget.owe(o.cost)
	if o.err != nil {
		return types.NewErr("composited variable %q fails to evaluate: %v", v.Name, o.err)
	}
	return o.value
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/internal/limits"
)

// An Activation holds the values of the variables of one scope. Evaluations with the same
// Activation share what its values have cached, and count together towards the limits of memory and
// of comparisons, which CEL costs do not bound. It is not safe for concurrent use.
type Activation struct {
	// Self is the value of self.
	Self ref.Val
	// OldSelf is the value of oldSelf. Nil if the scope does not declare it.
	OldSelf ref.Val
	// Values resolves the other variables that the scope declares, and the shared ones by names
	// such as variables.a. A value may be a CEL error. Nil if there are no such variables.
	Values interface {
		ResolveName(name string) (any, bool)
	}
	// StopAtCostLimit ends an evaluation as soon as it exceeds Scope.CostLimit. Otherwise cel-go
	// repeats it, which takes a multiple of the time, so that expressions that fail close to the
	// limit have cel-go's error.
	StopAtCostLimit bool

	meter limits.Meter
}

// ResolveName implements interpreter.Activation.
func (a *Activation) ResolveName(name string) (any, bool) {
	switch name {
	case Self:
		return a.Self, a.Self != nil
	case OldSelf:
		return a.OldSelf, a.OldSelf != nil
	case limits.MeterName:
		return &a.meter, true
	default:
		if a.Values == nil {
			return nil, false
		}
		return a.Values.ResolveName(name)
	}
}

// Parent implements interpreter.Activation.
func (*Activation) Parent() interpreter.Activation { return nil }

// Variable implements evaluator.NameResolver. It is never called: positions are for the variables of
// policies, and expressions in schemas read all variables by name.
func (*Activation) Variable(int) ref.Val { return nil }

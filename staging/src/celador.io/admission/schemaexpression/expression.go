// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// An Expression is a parsed and checked expression. It is immutable and safe for concurrent use.
type Expression struct {
	environment *Environment
	source      string
	checked     *cel.Ast
}

// Compile parses and checks an expression. An error has the type ErrorTypeInvalid, with line and column in its detail,
// if the expression is invalid, and ErrorTypeInternal otherwise.
func (e *Environment) Compile(source string) (*Expression, *apiservercel.Error) {
	checked, issues := e.env.Compile(source)
	if issues != nil {
		return nil, &apiservercel.Error{
			Type:   apiservercel.ErrorTypeInvalid,
			Detail: "compilation failed: " + issues.String(),
			Cause:  apiservercel.NewCompilationError(issues),
		}
	}
	return &Expression{environment: e, source: source, checked: checked}, nil
}

// Source returns the text of the expression.
func (x *Expression) Source() string { return x.source }

// OutputType returns the static type of the result.
func (x *Expression) OutputType() *cel.Type { return x.checked.OutputType() }

// Reads reports whether the expression reads a variable, such as OldSelf.
func (x *Expression) Reads(variable string) bool {
	for _, reference := range x.checked.NativeRep().ReferenceMap() {
		if reference.Name == variable {
			return true
		}
	}
	return false
}

// MaxCost returns the estimated cost of one evaluation in the worst case, in CEL cost units. The sizes of values are
// bounded by the type of self.
func (x *Expression) MaxCost() (uint64, error) {
	estimate, err := x.environment.env.EstimateCost(x.checked, estimator(&x.environment.scope))
	return estimate.Max, err
}

// Program plans the expression.
func (x *Expression) Program() (*Program, error) {
	program, err := x.environment.env.Program(x.checked,
		cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return nil, err
	}
	return &Program{source: x.source, program: program}, nil
}

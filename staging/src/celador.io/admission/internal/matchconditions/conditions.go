// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package matchconditions evaluates the match conditions of policies and webhooks (KEP-3488 and
// KEP-3716, "Match Conditions").
package matchconditions

import (
	"github.com/google/cel-go/common/types"
	v1 "k8s.io/api/admissionregistration/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
)

// Condition is a compiled match condition.
type Condition struct {
	expression.Compiled
	Name string
}

// Conditions are the match conditions of a policy or webhook. A request matches if all of them are
// true. Immutable.
type Conditions []Condition

// Compile compiles the match conditions of a stored webhook. A condition that does not compile
// fails with the reason whenever it is evaluated.
func Compile(compiler *expression.Compiler, conditions []v1.MatchCondition) Conditions {
	compiled := make(Conditions, len(conditions))
	for i, c := range conditions {
		program, err := compiler.Compile(c.Expression, policyspec.MatchCondition.Declarations(false), environment.StoredExpressions, policyspec.MatchCondition.Returns()...)
		compiled[i] = Condition{Compiled: expression.Compiled{Program: program, Err: err}, Name: c.Name}
	}
	return compiled
}

// A Result is the outcome of evaluating match conditions. The request matches if neither Excluded
// nor Err is set.
type Result struct {
	// Excluded is set if a condition is false, even if others could not be evaluated.
	Excluded bool
	// Condition is the name of the first false condition.
	Condition string
	// Errors is the number of conditions that could not be evaluated, not counting those after the
	// first false one.
	Errors int
	// Err is set if no condition is false and some could not be evaluated, or if the conditions
	// together exceed their cost budget. It wraps the errors of the expressions.
	Err error
}

// Check evaluates the conditions. The role of the series is policyspec.MatchCondition. As in
// Kubernetes, conditions after a false one are evaluated, too, because they may exceed the budget.
func (c Conditions) Check(series *expression.Series) Result {
	var result Result
	var errs []error
	for i := range c {
		value, err := c[i].Evaluate(series)
		switch {
		case expression.IsFatal(err):
			return Result{Err: err}
		case result.Excluded:
		case err != nil:
			errs = append(errs, err)
		case value == types.False:
			result.Excluded, result.Condition = true, c[i].Name
		}
	}
	result.Errors = len(errs)
	if !result.Excluded {
		result.Err = utilerrors.NewAggregate(errs)
	}
	return result
}

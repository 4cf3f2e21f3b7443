// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matchconditions

import (
	"github.com/google/cel-go/common/types"
	v1 "k8s.io/api/admissionregistration/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/expression"
	"celador.io/admission/policyspec"
)

// Condition is a compiled match condition.
type Condition struct {
	expression.Compiled
	Name string
}

// Conditions have to be true, all of them, for a request to match. Immutable.
type Conditions []Condition

// Compile compiles the match conditions of a webhook, which stored objects have: those that
// do not compile are kept with the reason.
func Compile(compiler *expression.Compiler, conditions []v1.MatchCondition) Conditions {
	compiled := make(Conditions, len(conditions))
	for i, c := range conditions {
		program, err := compiler.Compile(c.Expression, policyspec.MatchCondition.Declarations(false), environment.StoredExpressions, policyspec.MatchCondition.Returns()...)
		compiled[i] = Condition{Compiled: expression.Compiled{Program: program, Err: err}, Name: c.Name}
	}
	return compiled
}

// Result says whether a request matches.
type Result struct {
	// Excluded is set when a condition is false. The request then does not match,
	// whatever else could not be evaluated.
	Excluded bool
	// Condition is the name of the first condition that is false.
	Condition string
	// Errors counts the conditions that could not be evaluated, up to the first that is false.
	Errors int
	// Err is set when no condition is false and some could not be evaluated, or when the
	// conditions exceed their budget, after which no value counts.
	Err error
}

// Check evaluates conditions in the role policyspec.MatchCondition. All of them are
// evaluated, as any may exceed the budget.
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

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"context"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
)

// Series is memory for one series of evaluations at a time. The zero value is ready for use. Not
// safe for concurrent use.
type Series struct {
	series     expression.Series
	activation activation
	budget     expression.Budget
}

// Begin returns a series that evaluates expressions of the given role on a subject, with the given
// variables and a budget of the given number of CEL cost units. The series before it must not be
// used any more.
func (s *Series) Begin(ctx context.Context, subject Subject, role policyspec.Role, variables []expression.Variable, units int64) *expression.Series {
	s.budget = *expression.NewBudget(units)
	return s.Continue(ctx, subject, role, variables)
}

// Continue is like Begin, but the returned series spends the rest of the budget of the series
// before it.
func (s *Series) Continue(ctx context.Context, subject Subject, role policyspec.Role, variables []expression.Variable) *expression.Series {
	s.activation.Subject, s.activation.role = subject, role
	s.series.Begin(ctx, &s.activation, variables, &s.budget)
	s.series.Share(subject.resultsFor(role))
	return &s.series
}

// Clear ends the current series and drops all references to its values.
func (s *Series) Clear() {
	s.series.End()
	s.activation = activation{}
}

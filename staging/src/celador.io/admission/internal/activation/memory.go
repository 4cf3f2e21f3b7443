// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"context"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/locations"
	"celador.io/admission/policyspec"
)

// Memory holds what one series of evaluations needs: the series itself, the activation from which
// its expressions read 'object' and the other variables, and its budget. Callers use the same
// Memory for one series after the other, which saves allocations. The zero value is ready for use.
// Not safe for concurrent use.
type Memory struct {
	series     expression.Series
	activation activation
	budget     expression.Budget
}

// Begin returns a series that evaluates expressions of the given role on a subject, with the given
// variables and a budget of the given number of CEL cost units. The series before it must not be
// used any more.
func (m *Memory) Begin(ctx context.Context, subject Subject, role policyspec.Role, variables []expression.Variable, units int64) *expression.Series {
	m.budget = *expression.NewBudget(units)
	return m.Continue(ctx, subject, role, variables)
}

// Continue is like Begin, but the returned series spends the rest of the budget of the series
// before it.
func (m *Memory) Continue(ctx context.Context, subject Subject, role policyspec.Role, variables []expression.Variable) *expression.Series {
	m.activation.Subject, m.activation.role = subject, role
	m.series.Begin(ctx, &m.activation, variables, &m.budget)
	m.series.Share(subject.resultsFor(role))
	return &m.series
}

// Locate sets the value for which the next expressions of the current series are evaluated.
func (m *Memory) Locate(at *locations.Location) { m.activation.Location = at }

// Clear ends the current series and drops all references to its values.
func (m *Memory) Clear() {
	m.series.End()
	m.activation = activation{}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"

	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/internal/fingerprint"
	"celador.io/admission/cel/internal/programs"
)

// Recur makes s keep the results of count programs that EvaluateOnce evaluates. Match conditions of
// several webhooks share such a series: Continue sets the budget of the next webhook. s must have
// no variables.
func (s *Series) Recur(count int) { s.kept = slices.Grow(s.kept, count)[:count] }

// Continue sets the budget of the next evaluations and resets the meter. Results of programs and
// values of variables are kept.
func (s *Series) Continue(budget *Budget) {
	s.budget = budget
	s.meter.Reset()
}

// A keptResult holds the results of Program.run. Its charge is known, unless the program was not
// evaluated.
type keptResult struct {
	value  ref.Val
	charge programs.Charge
	err    error
}

// EvaluateOnce is Evaluate for a program with a number less than the count of Recur. It charges the
// cost to each budget, and evaluates the program only in the first call with the number.
func (p *Program) EvaluateOnce(s *Series, number int) (ref.Val, error) {
	kept := &s.kept[number]
	if !kept.charge.Known {
		value, charge, err := p.run(s)
		if s.meter.Err() != nil {
			// A meter error depends on what other expressions have used before.
			return p.conclude(s.budget, value, charge, err)
		}
		fingerprint.Kept(value)
		*kept = keptResult{value, charge, err}
	}
	return p.conclude(s.budget, kept.value, kept.charge, kept.err)
}

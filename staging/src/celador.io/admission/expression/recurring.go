// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"celador.io/admission/internal/programs"
)

// Recurring makes s remember the result of each program, and returns s. Match conditions of several
// webhooks share such a series: Continue sets the budget of the next webhook, and a program that
// was evaluated before is charged again, but not evaluated again. s must have no variables. The
// caller calls End after the last evaluation.
func (s *Series) Recurring() *Series {
	s.memo = memos.Get().(map[*Program]programs.Evaluation)
	return s
}

// memos holds empty maps for reuse.
var memos = sync.Pool{New: func() any { return map[*Program]programs.Evaluation{} }}

// Continue sets the budget of the next evaluations and resets the meter. Results of programs and
// values of variables are kept.
func (s *Series) Continue(budget *Budget) {
	s.budget = budget
	s.meter.Reset()
}

func (s *Series) evaluate(p *Program) programs.Evaluation {
	if s.memo == nil {
		return p.run(s)
	}
	e, ok := s.memo[p]
	if !ok {
		e = p.run(s)
		// A meter error depends on what other expressions have used before.
		if s.meter.Err() == nil {
			s.memo[p] = e
		}
	}
	return e
}

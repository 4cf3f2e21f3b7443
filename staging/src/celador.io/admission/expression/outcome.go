// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import "github.com/google/cel-go/common/types/ref"

// outcome is what an evaluation came to. It can be charged to any number of budgets.
type outcome struct {
	value ref.Val
	cost  uint64
	// known is whether the cost is.
	known bool
	err   error
}

// Recurring returns a series without variables that evaluates each program once. It can
// go on with another budget, which pays for what was evaluated before as if it were
// evaluated again.
func (s *Series) Recurring() *Series {
	s.outcomes = map[*Program]outcome{}
	return s
}

// Continue gives the series another budget.
func (s *Series) Continue(budget *Budget) { s.budget = budget }

func (s *Series) outcome(p *Program) outcome {
	if s.outcomes == nil {
		return p.run(s)
	}
	o, ok := s.outcomes[p]
	if !ok {
		o = p.run(s)
		s.outcomes[p] = o
	}
	return o
}

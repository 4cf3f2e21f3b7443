// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"github.com/google/cel-go/common/types/ref"
)

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
// evaluated again. It should come to an End.
func (s *Series) Recurring() *Series {
	s.outcomes = spare.Get().(map[*Program]outcome)
	return s
}

// End makes the memory of a recurring series available to others. It must not be used any
// more.
func (s *Series) End() {
	clear(s.outcomes)
	spare.Put(s.outcomes)
	s.outcomes = nil
}

// spare are empty maps that have grown.
var spare = sync.Pool{New: func() any { return map[*Program]outcome{} }}

// Continue gives the series a new budget and resets its meter, as if the series were new.
// Values of variables are kept.
func (s *Series) Continue(budget *Budget) {
	s.budget = budget
	s.meter.Reset()
}

func (s *Series) outcome(p *Program) outcome {
	if s.outcomes == nil {
		return p.run(s)
	}
	o, ok := s.outcomes[p]
	if !ok {
		o = p.run(s)
		// An error of the meter is about what other expressions have used, too.
		if s.meter.Err() == nil {
			s.outcomes[p] = o
		}
	}
	return o
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stopwatch measures evaluations that follow one another. Reading the time takes as long as
// a simple expression, so the end of one evaluation is also the start of the next.
package stopwatch

import "time"

// A Stopwatch measures the evaluations of one request. The zero value is stopped. Not safe for
// concurrent use.
type Stopwatch struct {
	// last is the time of the last start or lap, after epoch.
	last time.Duration
	// runs is set while the next evaluation may start at last.
	runs bool
	// skipped is the cost of the evaluations since last that nobody measured.
	skipped int64
}

// epoch is a time before all evaluations. time.Since reads one clock, time.Now reads two.
var epoch = time.Now()

// maxSkipped is the CEL cost of evaluations that a measured one may include: some microseconds.
const maxSkipped = 1000

// Start begins an evaluation. If the Stopwatch runs, the evaluation began with the last lap.
func (s *Stopwatch) Start() {
	if !s.runs {
		*s = Stopwatch{last: time.Since(epoch), runs: true}
	}
}

// Lap returns the time since the start or the last lap. Call Start before.
func (s *Stopwatch) Lap() time.Duration {
	now := time.Since(epoch)
	elapsed := now - s.last
	s.last, s.skipped = now, 0
	return elapsed
}

// Skip ends an evaluation of the given CEL cost that need not be measured. The next one includes
// its time, unless such evaluations have cost more than 1,000 units together.
func (s *Stopwatch) Skip(cost int64) {
	s.skipped += cost
	s.runs = s.runs && s.skipped <= maxSkipped
}

// Stop makes the next Start read the time. Call it before work that is not an evaluation.
func (s *Stopwatch) Stop() { s.runs = false }

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure takes times and allocations of two things that are compared.
package measure

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// Effort says how long to measure.
type Effort struct {
	// Rounds is how often each side is measured.
	Rounds int
	// Round is how long one measurement of one side takes, at least: a side that takes
	// longer is called once.
	Round time.Duration
}

// Cost is what one call costs, on average.
type Cost struct {
	Nanoseconds float64 `json:"nanoseconds"`
	Bytes       float64 `json:"bytes"`
	Allocations float64 `json:"allocations"`
}

// quartile is the percentile of the rounds that counts: other work on the machine makes
// rounds longer and none shorter.
const quartile = 25

// Alternate returns what one call of each function costs. They take turns, round by
// round, so that noise of the machine hits all of them alike. The first error ends it.
func Alternate(effort Effort, calls ...func() error) ([]Cost, error) {
	sides := make([]*side, len(calls))
	for i, call := range calls {
		sides[i] = &side{call: call}
		if err := sides[i].calibrate(effort.Round); err != nil {
			return nil, err
		}
	}
	for range effort.Rounds {
		for _, s := range sides {
			if err := s.measure(); err != nil {
				return nil, err
			}
		}
	}
	costs := make([]Cost, len(sides))
	for i, s := range sides {
		costs[i] = Cost{
			Nanoseconds: Percentile(s.nanoseconds, quartile),
			Bytes:       Percentile(s.bytes, quartile),
			Allocations: Percentile(s.allocations, quartile),
		}
	}
	return costs, nil
}

// side is one of the things that are compared, and what each round showed.
type side struct {
	call                            func() error
	times                           int
	nanoseconds, bytes, allocations []float64
}

// calibrate finds out how often to call within a round.
func (s *side) calibrate(round time.Duration) error {
	for s.times = 1; ; s.times *= 2 {
		start := time.Now()
		if err := s.run(); err != nil {
			return err
		}
		if took := max(time.Since(start), 1); took >= round/10 {
			s.times = max(1, int(float64(s.times)*float64(round)/float64(took)))
			return nil
		}
	}
}

func (s *side) run() error {
	for range s.times {
		if err := s.call(); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) measure() error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := s.run()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	// Whole allocations: what runs in the background now and then is not the call's.
	times := uint64(s.times)
	s.nanoseconds = append(s.nanoseconds, float64(took.Nanoseconds())/float64(s.times))
	s.bytes = append(s.bytes, float64((after.TotalAlloc-before.TotalAlloc)/times))
	s.allocations = append(s.allocations, float64((after.Mallocs-before.Mallocs)/times))
	return err
}

// Percentile returns the value that p percent of the values do not exceed, or NaN when
// there are none. It sorts the values.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	rank := int(math.Ceil(p / 100 * float64(len(values))))
	return values[min(max(rank, 1), len(values))-1]
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package measure compares the time and allocations of functions.
package measure

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// An Effort determines how long a measurement takes, and so how exact it is.
type Effort struct {
	// Rounds is the number of measurements of each function.
	Rounds int
	// Round is the minimum duration of one measurement, in which a function is called many times. A
	// function that takes longer is called once.
	Round time.Duration
}

// A Cost is the average cost of one call.
type Cost struct {
	Nanoseconds float64 `json:"nanoseconds"`
	Bytes       float64 `json:"bytes"`
	Allocations float64 `json:"allocations"`
}

// quartile is the percentile of the rounds that Alternate returns. It is a low one, because other
// work on the machine makes rounds longer but never shorter.
const quartile = 25

// Alternate returns the cost of one call of each function. It measures the functions in turn, so
// that noise affects all of them alike. It collects garbage first, since the first function would
// be charged for it otherwise. It returns the first error of a call.
func Alternate(effort Effort, calls ...func() error) ([]Cost, error) {
	runtime.GC()
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

// A side is one of the compared functions with its measurements, one per round.
type side struct {
	call                            func() error
	times                           int
	nanoseconds, bytes, allocations []float64
}

// calibrate determines how many calls take about as long as a round.
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
	// Background work allocates now and then. The integer division drops these allocations.
	times := uint64(s.times)
	s.nanoseconds = append(s.nanoseconds, float64(took.Nanoseconds())/float64(s.times))
	s.bytes = append(s.bytes, float64((after.TotalAlloc-before.TotalAlloc)/times))
	s.allocations = append(s.allocations, float64((after.Mallocs-before.Mallocs)/times))
	return err
}

// Percentile returns the p-th percentile of the values, or NaN if there are none. It sorts the
// values.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	rank := int(math.Ceil(p / 100 * float64(len(values))))
	return values[min(max(rank, 1), len(values))-1]
}

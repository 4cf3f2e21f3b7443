// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// maxGrowth is the target for the time of a request with 10,000 policies, divided by its time with
// one policy. A smaller factor would depend on single nanoseconds.
const maxGrowth = 1.5

// noneMatching returns a setup of policies for another resource than that of the request.
func noneMatching(policies int) setup {
	in := policiesFor(policies, "statefulsets")
	in.denied = input.StatefulSet(input.Excessive)
	return in
}

// noneMatch runs scenario S1: the cost of a request that no policy matches.
func noneMatch(s *session) error {
	costs, err := s.sweep("S1", "none match", []int{1, 10, 100, 1000, 10000}, noneMatching)
	if err != nil {
		return err
	}
	growth, err := s.growth(1, 10000)
	if err != nil {
		return err
	}
	one, thousand := costs[1], costs[1000]
	s.addTime("S1", "1,000 policies, none match", thousand, 2000, "")
	s.Add(report.Row{
		Scenario: "S1", About: "allocations", Unit: report.Allocations,
		Upstream: thousand[0].Allocations, Celador: thousand[1].Allocations,
		Target: report.Target{Max: new(0.0)},
	})
	s.Add(report.Row{
		Scenario: "S1", About: "growth from 1 to 10,000", Unit: report.Times,
		Upstream: thousand[0].Nanoseconds / one[0].Nanoseconds,
		Celador:  growth,
		Target:   report.Target{Max: new(maxGrowth)},
		Note:     "upstream: from 1 to 1,000",
	})
	return nil
}

// growth measures a request to Celador's plugin with two numbers of policies, from and to, and
// returns the time with to policies divided by the time with from policies. It measures the two in
// turn, because within a minute, times of some nanoseconds drift by more than their difference.
func (s *session) growth(from, to int) (float64, error) {
	var calls []func() error
	for _, policies := range []int{from, to} {
		subjects, err := s.start(noneMatching(policies), 1)
		if err != nil {
			return 0, err
		}
		defer stopAll(subjects)
		calls = append(calls, subjects[0].call)
	}
	costs, err := measure.Alternate(s.effort, calls...)
	if err != nil {
		return 0, err
	}
	return costs[1].Nanoseconds / costs[0].Nanoseconds, nil
}

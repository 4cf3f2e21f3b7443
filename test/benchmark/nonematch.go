// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/report"
)

// maxGrowth is the maximum factor between the times of a request with 10,000 policies and with one.
// A smaller factor would depend on single nanoseconds.
const maxGrowth = 1.5

// noneMatching returns policies for a resource other than the request's.
func noneMatching(policies int) setup {
	in := policiesFor(policies, "statefulsets")
	in.denied = input.StatefulSet(input.Excessive)
	return in
}

// noneMatch runs S1: the cost of a request that no policy matches.
func noneMatch(s *session) error {
	points, err := s.sweep("S1", "none match", []int{1, 10, 100, 1000, 10000}, noneMatching)
	if err != nil {
		return err
	}
	one, thousand, most := points[1], points[1000], points[10000]
	s.addTime("S1", "1,000 policies, none match", thousand, 2000)
	s.Add(report.Row{
		Scenario: "S1", About: "allocations", Unit: report.Allocations,
		Upstream: thousand.Upstream.Allocations, Celador: thousand.Celador.Allocations,
		Target: report.Target{Max: new(0.0)},
	})
	s.Add(report.Row{
		Scenario: "S1", About: "growth from 1 to 10,000", Unit: report.Times,
		Upstream: thousand.Upstream.Nanoseconds / one.Upstream.Nanoseconds,
		Celador:  most.Celador.Nanoseconds / one.Celador.Nanoseconds,
		Target:   report.Target{Max: new(maxGrowth)},
		Note:     "upstream: from 1 to 1,000",
	})
	return nil
}

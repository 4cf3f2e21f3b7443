// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/report"
)

// flat is how much dearer a request may be, at most, with 10,000 policies than with one:
// what one nanosecond more or less would decide is no difference.
const flat = 2

// noneMatching returns policies that are all for another resource.
func noneMatching(policies int) situation {
	in := each(policies, "statefulsets")
	in.denied = input.StatefulSet(input.Excessive)
	return in
}

// noneMatch is S1: what a request costs that no policy matches.
func noneMatch(s *session) error {
	points, err := s.sweep("S1", "none match", []int{1, 10, 100, 1000, 10000}, noneMatching)
	if err != nil {
		return err
	}
	one, thousand, most := points[1], points[1000], points[10000]
	s.addTime("S1", "1,000 policies, none match", thousand, 1000)
	s.Add(report.Row{
		Scenario: "S1", About: "allocations", Unit: report.Allocations,
		Upstream: thousand.Upstream.Allocations, Celador: thousand.Celador.Allocations,
		Target: report.Target{Most: 2},
	})
	s.Add(report.Row{
		Scenario: "S1", About: "growth from 1 to 10,000", Unit: report.Times,
		Upstream: thousand.Upstream.Nanoseconds / one.Upstream.Nanoseconds,
		Celador:  most.Celador.Nanoseconds / one.Celador.Nanoseconds,
		Target:   report.Target{Most: flat},
		Note:     "upstream: from 1 to 1,000",
	})
	return nil
}

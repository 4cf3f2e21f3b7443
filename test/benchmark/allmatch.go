// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// allMatching returns policies that match and admit the request.
func allMatching(policies int) setup {
	in := policiesFor(policies, "deployments")
	in.denied = input.Deployment(input.Excessive)
	return in
}

// allMatch runs the scenarios S2 and S3: the cost of a request that every policy matches.
func allMatch(s *session) error {
	numbers := []int{1, 10, 100, 1000}
	if s.Quick {
		numbers = numbers[:3]
	}
	costs, err := s.sweep("S2, S3", "all match", numbers, allMatching)
	if err != nil {
		return err
	}
	s.addTime("S2", "100 policies, all match", costs[100], 40, "")
	s.addTime("S3", "1 policy, matches", costs[1], 8, "")
	return nil
}

// coldRounds is the number of requests to each plugin in scenario S2c.
const coldRounds = 200

// coldMatch runs scenario S2c: the cost of the request of scenario S2 when the processor's caches
// hold other data, as they do on a server between two requests.
func coldMatch(s *session) error {
	s.progress("S2c: 100 policies, all match, cold caches")
	subjects, err := s.start(allMatching(100), 0, 1)
	if err != nil {
		return err
	}
	defer stopAll(subjects)
	one, err := s.start(allMatching(1), 0, 1)
	if err != nil {
		return err
	}
	defer stopAll(one)
	cold, err := measure.Cold(coldRounds, subjects[0].call, subjects[1].call, one[0].call, one[1].call)
	if err != nil {
		return err
	}
	s.Add(report.Row{
		Scenario: "S2c", About: "100 policies, all match, cold caches", Unit: report.Nanoseconds,
		Upstream: cold[0], Celador: cold[1],
		Note: fmt.Sprintf("1 policy: upstream %.0f µs, celador %.0f µs", cold[2]/1e3, cold[3]/1e3),
	})
	return nil
}

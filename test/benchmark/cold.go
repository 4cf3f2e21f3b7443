// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// coldRounds is the number of requests to each plugin in S2c.
const coldRounds = 200

// coldMatch runs S2c: the cost of the request of S2 when the processor's caches hold other data, as
// between the requests of a server.
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

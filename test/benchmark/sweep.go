// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"celador.io/celador/test/benchmark/measure"
	"celador.io/celador/test/benchmark/report"
)

// maxUpstream is the largest number of policies for which upstream's plugin is measured.
const maxUpstream = 1000

// sweep measures the cost of one request with each of the numbers of policies, and adds them to the
// report as a series. with returns the setup for a number. The result has the costs by number of
// policies: those of upstream and of Celador, or only Celador's above maxUpstream.
func (s *session) sweep(id, name string, numbers []int, with func(policies int) setup) (map[int][]measure.Cost, error) {
	series := report.Series{Name: name}
	all := map[int][]measure.Cost{}
	for _, policies := range numbers {
		s.progress("%s: %s, policies: %d", id, name, policies)
		sides := []int{0, 1}
		if policies > maxUpstream {
			sides = sides[1:]
		}
		costs, err := s.measure(with(policies), sides...)
		if err != nil {
			return nil, err
		}
		point := report.Point{Policies: policies, Celador: &costs[len(costs)-1]}
		if len(costs) == 2 {
			point.Upstream = &costs[0]
		}
		series.Points = append(series.Points, point)
		all[policies] = costs
	}
	s.Series = append(s.Series, series)
	return all, nil
}

// addComparison measures the request of a setup with both plugins and adds a row for its time. The
// target is met if upstream's time is at least Celador's time multiplied by times.
func (s *session) addComparison(id, about string, in setup, times float64) error {
	s.progress("%s: %s", id, about)
	costs, err := s.measure(in, 0, 1)
	if err != nil {
		return err
	}
	s.addTime(id, about, costs, times, "")
	return nil
}

// addTime adds a row for the time of a request. costs has upstream's cost and then Celador's. The
// target is met if upstream's time is at least Celador's time multiplied by times.
func (s *session) addTime(id, about string, costs []measure.Cost, times float64, note string) {
	s.Add(report.Row{
		Scenario: id, About: about, Unit: report.Nanoseconds,
		Upstream: costs[0].Nanoseconds, Celador: costs[1].Nanoseconds,
		Target: report.Target{Times: times}, Note: note,
	})
}

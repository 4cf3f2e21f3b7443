// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "celador.io/celador/test/benchmark/report"

// maxUpstream is the largest number of policies for which upstream's plugin is measured.
const maxUpstream = 1000

// sweep measures the cost of one request for each number of policies. It adds the series to the
// report and returns the points by number.
func (s *session) sweep(id, name string, numbers []int, with func(policies int) setup) (map[int]report.Point, error) {
	series := report.Series{Name: name}
	points := map[int]report.Point{}
	for _, policies := range numbers {
		s.progress("%s: %s, policies: %d", id, name, policies)
		point := report.Point{Policies: policies}
		if policies <= maxUpstream {
			upstream, celador, err := s.compare(with(policies))
			if err != nil {
				return nil, err
			}
			point.Upstream, point.Celador = &upstream, &celador
		} else {
			costs, err := s.measure(with(policies), 1)
			if err != nil {
				return nil, err
			}
			point.Celador = &costs[0]
		}
		series.Points = append(series.Points, point)
		points[policies] = point
	}
	s.Series = append(s.Series, series)
	return points, nil
}

// addComparison measures one setup and adds a row for the time of a request.
func (s *session) addComparison(id, about string, in setup, times float64) error {
	s.progress("%s: %s", id, about)
	upstream, celador, err := s.compare(in)
	if err != nil {
		return err
	}
	s.addTime(id, about, report.Point{Upstream: &upstream, Celador: &celador}, times)
	return nil
}

// addTime adds a row for the time of a request.
func (s *session) addTime(id, about string, point report.Point, times float64) {
	s.Add(report.Row{
		Scenario: id, About: about, Unit: report.Nanoseconds,
		Upstream: point.Upstream.Nanoseconds, Celador: point.Celador.Nanoseconds,
		Target: report.Target{Times: times},
	})
}

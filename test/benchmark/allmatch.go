// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "celador.io/celador/test/benchmark/input"

// allMatching returns policies that match and admit the request.
func allMatching(policies int) setup {
	in := policiesFor(policies, "deployments")
	in.denied = input.Deployment(input.Excessive)
	return in
}

// allMatch runs S2 and S3: the cost of a request that every policy matches.
func allMatch(s *session) error {
	numbers := []int{1, 10, 100, 1000}
	if s.Quick {
		numbers = numbers[:3]
	}
	costs, err := s.sweep("S2, S3", "all match", numbers, allMatching)
	if err != nil {
		return err
	}
	s.addTime("S2", "100 policies, all match", costs[100], 40)
	s.addTime("S3", "1 policy, matches", costs[1], 8)
	return nil
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reduce leaves out of a made-up scenario what a difference does not need.
package reduce

import "iter"

// Scenario returns the smallest scenario that it finds for which differ is true, and one of the
// requests if one alone will do, else all. Reductions are copies of a scenario with one thing
// less. It is to be called with a scenario and requests for which differ is true.
func Scenario[S, R any](s S, requests map[string]R, reductions func(S) iter.Seq[S], differ func(S, map[string]R) bool) (S, map[string]R) {
	for name, r := range requests {
		if alone := map[string]R{name: r}; differ(s, alone) {
			requests = alone
			break
		}
	}
	for again := true; again; {
		again = false
		for smaller := range reductions(s) {
			if differ(smaller, requests) {
				s, again = smaller, true
				break
			}
		}
	}
	return s, requests
}

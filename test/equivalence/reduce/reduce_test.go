// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package reduce_test

import (
	"iter"
	"maps"
	"slices"
	"testing"

	"celador.io/celador/test/equivalence/reduce"
)

// without returns copies of a list with one element less.
func without(list []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for i := range list {
			if !yield(slices.Delete(slices.Clone(list), i, i+1)) {
				return
			}
		}
	}
}

func TestScenario(t *testing.T) {
	requests := map[string]int{"a": 1, "b": 2, "c": 3}
	for name, tc := range map[string]struct {
		differ       func([]int, map[string]int) bool
		scenario     []int
		wantRequests []string
	}{
		"one request": {
			func(s []int, r map[string]int) bool {
				_, b := r["b"]
				return b && slices.Contains(s, 2) && slices.Contains(s, 5)
			},
			[]int{2, 5}, []string{"b"},
		},
		"requests together": {
			func(s []int, r map[string]int) bool { return len(r) > 1 && slices.Contains(s, 3) },
			[]int{3}, []string{"a", "b", "c"},
		},
		"everything": {
			func(s []int, r map[string]int) bool { return len(s) == 5 && len(r) == 3 },
			[]int{1, 2, 3, 4, 5}, []string{"a", "b", "c"},
		},
	} {
		scenario, left := reduce.Scenario([]int{1, 2, 3, 4, 5}, requests, without, tc.differ)
		if !slices.Equal(scenario, tc.scenario) || !slices.Equal(slices.Sorted(maps.Keys(left)), tc.wantRequests) {
			t.Errorf("%s: got %v and %v, want %v and %v", name, scenario, left, tc.scenario, tc.wantRequests)
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
)

// Shrink makes a scenario with a difference between the plugins small enough to read. It returns a
// smaller scenario for which differ still returns true, and a single request if one is enough. To
// find it, it removes elements of lists in the JSON form of the scenario, one at a time. differ
// must be true for the given scenario and requests.
func Shrink[S, R any](s S, requests map[string]R, differ func(S, map[string]R) bool) (S, map[string]R) {
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

// reductions returns copies of a scenario. In each, one object is missing from a list.
func reductions[S any](s S) iter.Seq[S] {
	return func(yield func(S) bool) {
		text, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		var tree any
		if err := json.Unmarshal(text, &tree); err != nil {
			panic(err)
		}
		for smaller := range without(tree) {
			text, err := json.Marshal(smaller)
			if err != nil {
				panic(err)
			}
			var reduced S
			if err := json.Unmarshal(text, &reduced); err != nil {
				panic(err)
			}
			if !yield(reduced) {
				return
			}
		}
	}
}

// without returns copies of a JSON value, each of which lacks one object of one list. Copies that
// lack an object of an outer list come first, because they lack more.
func without(tree any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch tree := tree.(type) {
		case []any:
			for i, element := range tree {
				if _, object := element.(map[string]any); object && !yield(slices.Delete(slices.Clone(tree), i, i+1)) {
					return
				}
			}
			for i, element := range tree {
				for smaller := range without(element) {
					c := slices.Clone(tree)
					c[i] = smaller
					if !yield(c) {
						return
					}
				}
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(tree)) {
				for smaller := range without(tree[name]) {
					c := maps.Clone(tree)
					c[name] = smaller
					if !yield(c) {
						return
					}
				}
			}
		}
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"celador.io/celador/test/equivalence/harness"
)

type element struct {
	Name  string    `json:"name"`
	Parts []element `json:"parts,omitempty"`
}

func named(names ...string) []element {
	var elements []element
	for _, name := range names {
		elements = append(elements, element{Name: name})
	}
	return elements
}

func TestShrink(t *testing.T) {
	t.Parallel()
	requests := map[string]int{"a": 1, "b": 2, "c": 3}
	has := func(elements []element, name string) bool {
		return slices.ContainsFunc(elements, func(e element) bool { return e.Name == name })
	}
	scenario := named("1", "2", "3", "4", "5")
	scenario[2].Parts = named("6", "7")
	for name, tc := range map[string]struct {
		differ       func([]element, map[string]int) bool
		want         []element
		wantRequests []string
	}{
		"one request": {
			func(s []element, r map[string]int) bool {
				_, b := r["b"]
				return b && has(s, "2") && has(s, "5")
			},
			named("2", "5"), []string{"b"},
		},
		"requests together": {
			func(s []element, r map[string]int) bool { return len(r) > 1 && has(s, "3") },
			named("3"), []string{"a", "b", "c"},
		},
		"part of an element": {
			func(s []element, _ map[string]int) bool {
				return slices.ContainsFunc(s, func(e element) bool { return has(e.Parts, "7") })
			},
			[]element{{Name: "3", Parts: named("7")}}, nil,
		},
		"everything": {
			func(s []element, r map[string]int) bool { return len(s) == 5 && len(s[2].Parts) == 2 && len(r) == 3 },
			scenario, []string{"a", "b", "c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, left := harness.Shrink(scenario, requests, tc.differ)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("scenario (-want +got):\n%s", diff)
			}
			if names := slices.Sorted(maps.Keys(left)); tc.wantRequests != nil && !slices.Equal(names, tc.wantRequests) {
				t.Errorf("got requests %v, want %v", names, tc.wantRequests)
			}
		})
	}
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// label is a label that a selector requires.
type label struct{ key, value string }

func (l label) compare(other label) int {
	return cmp.Or(strings.Compare(l.key, other.key), strings.Compare(l.value, other.value))
}

// Matches is labels.Selector.Matches for a selector that consists of the label, as most selectors
// do.
func (l *label) Matches(set labels.Labels) bool {
	value, ok := set.Lookup(l.key)
	return ok && value == l.value
}

// requiredLabel returns the label of the first requirement that allows a single value, or nil.
func requiredLabel(requirements labels.Requirements) *label {
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := r.ValuesUnsorted(); len(values) == 1 {
				return &label{r.Key(), values[0]}
			}
		}
	}
	return nil
}

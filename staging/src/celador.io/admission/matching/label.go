// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// label is a label that something must have.
type label struct{ key, value string }

func (l label) compare(other label) int {
	if order := strings.Compare(l.key, other.key); order != 0 {
		return order
	}
	return strings.Compare(l.value, other.value)
}

// Matches is that of labels.Selector: most selectors are no more than a label.
func (l *label) Matches(set labels.Labels) bool {
	value, ok := set.Lookup(l.key)
	return ok && value == l.value
}

// requiredLabel returns a label that one of the requirements asks for. Nil when none
// asks for a certain one.
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

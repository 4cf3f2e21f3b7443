// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"slices"

	"k8s.io/apimachinery/pkg/selection"
)

// NamespaceIndex tells which of many criteria a request may meet, going by a label that
// they require of the request's namespace. Immutable, so safe for concurrent use.
type NamespaceIndex struct {
	// all and free are the positions of all criteria and of those without such a label.
	all, free []int
	required  map[label][]int
	// keys are those of the labels.
	keys []string
}

type label struct{ key, value string }

// NewNamespaceIndex returns an index of the given criteria. Nil criteria are met by
// every request.
func NewNamespaceIndex(criteria []*Criteria) *NamespaceIndex {
	x := &NamespaceIndex{required: map[label][]int{}}
	for i, c := range criteria {
		x.all = append(x.all, i)
		required, ok := c.requiredNamespaceLabel()
		if !ok {
			x.free = append(x.free, i)
			continue
		}
		x.required[required] = append(x.required[required], i)
		if !slices.Contains(x.keys, required.key) {
			x.keys = append(x.keys, required.key)
		}
	}
	return x
}

// Candidates returns the positions, in order, of the criteria that the request may
// meet; it certainly does not meet the others. The result must not be changed.
func (x *NamespaceIndex) Candidates(r *Request) []int {
	if len(x.required) == 0 || !r.hasNamespaceLabels() {
		return x.all
	}
	labels, err := r.namespaceLabels()
	if err != nil {
		return x.all
	}
	found, merged := x.free, false
	for _, key := range x.keys {
		value, ok := labels[key]
		if !ok {
			continue
		}
		switch more := x.required[label{key, value}]; {
		case len(more) == 0:
		case len(found) == 0:
			found = more
		default:
			found, merged = slices.Concat(found, more), true
		}
	}
	if merged {
		slices.Sort(found)
	}
	return found
}

// requiredNamespaceLabel returns one label that a namespace must have, if there is any
// whose value is certain.
func (c *Criteria) requiredNamespaceLabel() (label, bool) {
	if c == nil || c.namespaces.err != nil {
		return label{}, false
	}
	requirements, _ := c.namespaces.Requirements()
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := r.ValuesUnsorted(); len(values) == 1 {
				return label{r.Key(), values[0]}, true
			}
		}
	}
	return label{}, false
}

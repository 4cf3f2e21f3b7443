// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"cmp"
	"slices"
	"strings"
)

// few is the number of items up to which matching all of them is faster than a lookup.
const few = 4

// An Item is an element of a NamespaceIndex.
type Item interface {
	// Name returns a name that is unique in the index.
	Name() string
	// Criteria returns the criteria of the item. If they are nil, all requests meet them.
	Criteria() *Criteria
}

// NamespaceIndex holds items sorted by name, and finds the items that may match a request by a
// label that their namespace selectors require. The zero value is empty. Immutable, so safe for
// concurrent use. A changed index shares most of its memory with the one before.
type NamespaceIndex[T Item] struct {
	byName sorted[T]
	// byLabel holds the items whose namespace selector requires a label, sorted by label and name.
	// free holds the other items, sorted by name.
	byLabel, free sorted[T]
}

// All returns all items, sorted by name, in consecutive slices. The slices must not be changed.
func (x NamespaceIndex[T]) All() [][]T { return x.byName }

// Len returns the number of items.
func (x NamespaceIndex[T]) Len() int { return x.byName.len() }

// Candidates returns the items whose criteria the request may meet, sorted by name, in consecutive
// slices that must not be changed. The request does not meet the criteria of the other items.
func (x NamespaceIndex[T]) Candidates(r *Request) [][]T {
	if len(x.byLabel) == 0 || len(x.byName) == 1 && len(x.byName[0]) <= few || !r.hasNamespaceLabels() {
		return x.byName
	}
	labels, err := r.namespaceLabels()
	if err != nil {
		return x.byName
	}
	// Usually all items require a label with the same key.
	key := x.byLabel[0][0].Criteria().namespaceLabel().key
	if key == x.byLabel.last().Criteria().namespaceLabel().key {
		if value, ok := labels[key]; ok {
			return merge(x.free, x.byLabel.span(valued[T](value)))
		}
		return x.free
	}
	found := x.free
	for key, value := range labels {
		found = merge(found, x.byLabel.span(requiring[T](label{key, value})))
	}
	return found
}

// merge returns the items of both lists, sorted by name.
func merge[T Item](a, b sorted[T]) sorted[T] {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	merged := slices.Concat(slices.Concat(a...), slices.Concat(b...))
	slices.SortFunc(merged, func(a, b T) int { return strings.Compare(a.Name(), b.Name()) })
	return sorted[T]{merged}
}

// With returns an index with the item, which replaces the item of the same name.
func (x NamespaceIndex[T]) With(item T) NamespaceIndex[T] {
	name, required := item.Name(), item.Criteria().namespaceLabel()
	if old, ok := x.byName.find(named[T](name)); ok && !sameLabel(old.Criteria().namespaceLabel(), required) {
		x = x.Without(name)
	}
	x.byName = x.byName.with(item, named[T](name))
	if required == nil {
		x.free = x.free.with(item, named[T](name))
	} else {
		x.byLabel = x.byLabel.with(item, placed[T](*required, name))
	}
	return x
}

// Without returns an index without the item of that name, if there is one.
func (x NamespaceIndex[T]) Without(name string) NamespaceIndex[T] {
	old, ok := x.byName.find(named[T](name))
	if !ok {
		return x
	}
	x.byName = x.byName.without(named[T](name))
	if required := old.Criteria().namespaceLabel(); required == nil {
		x.free = x.free.without(named[T](name))
	} else {
		x.byLabel = x.byLabel.without(placed[T](*required, name))
	}
	return x
}

// named returns the function with which a list that is sorted by name is searched for a name.
func named[T Item](name string) func(T) int {
	return func(item T) int { return strings.Compare(item.Name(), name) }
}

// requiring returns the function with which a list that is sorted by label is searched for a label.
func requiring[T Item](required label) func(T) int {
	return func(item T) int { return item.Criteria().namespaceLabel().compare(required) }
}

// valued returns a function that compares the value of the label that an item requires with the
// given one. It serves to search a list whose items all require labels with the same key.
func valued[T Item](value string) func(T) int {
	return func(item T) int { return strings.Compare(item.Criteria().namespaceLabel().value, value) }
}

// placed returns a function that compares the required label and the name of an item with the given
// ones. It serves to search byLabel, which is sorted by both.
func placed[T Item](required label, name string) func(T) int {
	return func(item T) int {
		return cmp.Or(item.Criteria().namespaceLabel().compare(required), strings.Compare(item.Name(), name))
	}
}

// namespaceLabel returns Criteria.required. c may be nil.
func (c *Criteria) namespaceLabel() *label {
	if c == nil {
		return nil
	}
	return c.required
}

func sameLabel(a, b *label) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

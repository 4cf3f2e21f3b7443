// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"slices"
	"strings"
)

// few items are examined faster than they are looked up.
const few = 4

// Item is what a NamespaceIndex holds.
type Item interface {
	// Name is unique among the items of an index.
	Name() string
	// Criteria returns what requests have to meet. Nil criteria are met by every one.
	Criteria() *Criteria
}

// NamespaceIndex holds items in the order of their names. It tells which of them are
// for a request, going by a label that they require of the request's namespace. The
// zero value is empty. Immutable, so safe for concurrent use; a changed index shares
// most of its memory with the one before.
type NamespaceIndex[T Item] struct {
	byName sorted[T]
	// byLabel are the items that require a label, by that and name; free the others, by
	// name.
	byLabel, free sorted[T]
}

// All returns all items, in order, in slices to be read one after the other. They must
// not be changed.
func (x NamespaceIndex[T]) All() [][]T { return x.byName }

// Len returns the number of items.
func (x NamespaceIndex[T]) Len() int { return x.byName.len() }

// Candidates returns, as All does, the items whose criteria the request may meet; it
// certainly does not meet those of the others.
func (x NamespaceIndex[T]) Candidates(r *Request) [][]T {
	if len(x.byLabel) == 0 || len(x.byName) == 1 && len(x.byName[0]) <= few || !r.hasNamespaceLabels() {
		return x.byName
	}
	labels, err := r.namespaceLabels()
	if err != nil {
		return x.byName
	}
	// Most often all items require the same key.
	key := x.byLabel.first().Criteria().namespaceLabel().key
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

// merge returns the items of both sequences in the order of their names.
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

// With returns an index that also has the item, in place of the one of the same name.
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

// Without returns an index that lacks the item of that name, if there is one.
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

// named looks for a name among items in the order of names.
func named[T Item](name string) func(T) int {
	return func(item T) int { return strings.Compare(item.Name(), name) }
}

// valued looks for the value of a label among items that all require the same key.
func valued[T Item](value string) func(T) int {
	return func(item T) int { return strings.Compare(item.Criteria().namespaceLabel().value, value) }
}

// requiring looks for a label among items in the order of labels.
func requiring[T Item](wanted label) func(T) int {
	return func(item T) int { return item.Criteria().namespaceLabel().compare(wanted) }
}

// placed looks for a name among items in the order of labels and names.
func placed[T Item](required label, name string) func(T) int {
	return func(item T) int {
		if order := item.Criteria().namespaceLabel().compare(required); order != 0 {
			return order
		}
		return strings.Compare(item.Name(), name)
	}
}

// namespaceLabel returns a label that namespaces must have. Nil when there is none whose
// value is certain.
func (c *Criteria) namespaceLabel() *label {
	if c == nil {
		return nil
	}
	return c.namespaces.label()
}

func sameLabel(a, b *label) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

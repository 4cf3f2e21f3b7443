// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// A schemaMapList is the view of a list with x-kubernetes-list-type map. Two such lists are equal
// if they have equal elements for the same keys, in any order. The sum of two lists has the
// elements of both; of two elements with the same keys it has the second.
type schemaMapList struct {
	schemaList
	// byKey holds the positions of the elements. It is nil before it is needed.
	byKey map[any]int
}

// A listKey is the name of a key of a list with x-kubernetes-list-type map.
type listKey struct {
	name string
	// escaped is the name in expressions. It is the name itself if that cannot be escaped.
	escaped string
}

func newListKey(name string) listKey {
	if escaped, ok := apiservercel.Escape(name); ok {
		return listKey{name, escaped}
	}
	return listKey{name, name}
}

// Equal implements ref.Val. It copies a defect of Kubernetes' conversion, which looks up keys in
// unstructured elements by their escaped names. If a name changes when it is escaped, no element is
// found, and a list of several elements does not even equal itself.
func (l *schemaMapList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if l.Size() != o.Size() {
		return types.False
	}
	if l.byKey == nil {
		l.byKey = make(map[any]int, len(l.elements))
		for i, element := range l.elements {
			l.byKey[l.contentKey(element)] = i
		}
	}
	return equalByKey(l.byKey, l.child, o, func(v ref.Val) any { return l.contentKey(v.Value()) })
}

// equalByKey compares two lists of the same size, whose elements are identified by the same
// x-kubernetes-list-map-keys. byKey holds the positions of the elements of the first list by their
// keys, at returns its element at a position, and keyOf returns the key of an element of other.
func equalByKey(byKey map[any]int, at func(int) ref.Val, other traits.Lister, keyOf func(ref.Val) any) ref.Val {
	seen := make(map[any]struct{}, len(byKey))
	for it := other.Iterator(); it.HasNext() == types.True; {
		v := it.Next()
		key := keyOf(v)
		i, found := byKey[key]
		if !found {
			return types.False
		}
		if equal := at(i).Equal(v); equal != types.True {
			return equal
		}
		seen[key] = struct{}{}
	}
	return types.Bool(len(seen) == len(byKey))
}

// Add implements traits.Adder.
func (l *schemaMapList) Add(other ref.Val) ref.Val { return addMapLists(l, other, l.keys) }

// contentKey returns the key of an unstructured element in byKey: the values of the fields that are
// the list's x-kubernetes-list-map-keys. For an element that is not an object, it returns a CEL
// error, which equals no other key.
func (l *schemaMapList) contentKey(element any) any {
	object, ok := element.(map[string]any)
	if !ok {
		return types.NewErr("unexpected data format for element of array with x-kubernetes-list-type=map: %T", element)
	}
	return compositeKey(l.keys, func(key listKey) any { return object[key.name] })
}

// A mapListSum is the sum of a list with x-kubernetes-list-type map and another list. It behaves
// like such a list itself: it is compared and added to by keys.
type mapListSum struct {
	traits.Lister
	keys []listKey
}

// Equal implements ref.Val.
func (l *mapListSum) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if l.Size() != o.Size() {
		return types.False
	}
	elements := elementsOf(l)
	return equalByKey(positionsOf(elements, l.keys), func(i int) ref.Val { return elements[i] }, o, func(v ref.Val) any { return valueKey(v, l.keys) })
}

// positionsOf returns the positions of elements by their keys.
func positionsOf(elements []ref.Val, keys []listKey) map[any]int {
	positions := make(map[any]int, len(elements))
	for i, v := range elements {
		positions[valueKey(v, keys)] = i
	}
	return positions
}

// Add implements traits.Adder.
func (l *mapListSum) Add(other ref.Val) ref.Val { return addMapLists(l, other, l.keys) }

func addMapLists(l traits.Lister, r ref.Val, keys []listKey) ref.Val {
	other, ok := r.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(r)
	}
	sum := elementsOf(l)
	positions := positionsOf(sum, keys)
	for it := other.Iterator(); it.HasNext() == types.True; {
		v := it.Next()
		if i, found := positions[valueKey(v, keys)]; found {
			sum[i] = v
		} else {
			sum = append(sum, v)
		}
	}
	return &mapListSum{types.NewRefValList(types.DefaultTypeAdapter, sum), keys}
}

// valueKey returns the key of an element that is a CEL value: the values of the fields that keys
// lists. In elements that expressions construct, these fields have escaped names.
func valueKey(element ref.Val, keys []listKey) any {
	return compositeKey(keys, func(key listKey) any {
		v := fieldOf(element, key)
		if v == nil || types.IsUnknownOrError(v) {
			return nil
		}
		return hashable(v.Value())
	})
}

// fieldOf returns a field of a map or of a constructed object, or nil if there is none.
func fieldOf(of ref.Val, key listKey) ref.Val {
	name := types.String(key.escaped)
	switch of := of.(type) {
	case *schemaMap:
		if v, found := of.entry(key.name); found {
			return v
		}
	case traits.Mapper:
		if v, found := of.Find(name); found {
			return v
		}
	case traits.Indexer:
		if tester, ok := of.(traits.FieldTester); ok && tester.IsSet(name) == types.True {
			return of.Get(name)
		}
	}
	return nil
}

// compositeKey returns a value that can be a key of a Go map. It is equal for two elements whose
// keys have the same values.
func compositeKey(keys []listKey, value func(listKey) any) any {
	switch len(keys) {
	case 1:
		return value(keys[0])
	case 2:
		return [2]any{value(keys[0]), value(keys[1])}
	case 3:
		return [3]any{value(keys[0]), value(keys[1]), value(keys[2])}
	}
	parts := make([]any, len(keys))
	for i, key := range keys {
		parts[i] = value(key)
	}
	return fmt.Sprintf("%#v", parts)
}

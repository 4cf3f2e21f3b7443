// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

var (
	_ traits.Lister = (*unstructuredList)(nil)
	_ traits.Zeroer = (*unstructuredList)(nil)
)

// unstructuredList is the CEL value of the unstructured form of a slice.
type unstructuredList struct {
	conversion[*listValue]
	list listValue
}

func newUnstructuredList(elem *plan, object reflect.Value) *unstructuredList {
	// One allocation holds both views.
	l := &unstructuredList{list: listValue{elem: elem, object: object}}
	l.typed = &l.list
	return l
}

// elements returns the list to read elements from: the converted list, or the typed view before
// it is converted.
func (l *unstructuredList) elements() traits.Lister {
	if converted, ok := l.converted.(traits.Lister); ok {
		return converted
	}
	return l.typed
}

// Get implements traits.Indexer.
func (l *unstructuredList) Get(index ref.Val) ref.Val {
	if i, ok := index.(types.Int); ok && i >= 0 && i < types.Int(l.list.object.Len()) {
		return l.elements().Get(i)
	}
	if converted, ok := l.convert().(traits.Lister); ok {
		return converted.Get(index)
	}
	return l.converted
}

// Contains implements traits.Container.
func (l *unstructuredList) Contains(v ref.Val) ref.Val {
	elements := l.elements()
	for i := range l.list.object.Len() {
		if v.Equal(elements.Get(types.Int(i))) == types.True {
			return types.True
		}
	}
	return types.False
}

// Iterator implements traits.Iterable.
func (l *unstructuredList) Iterator() traits.Iterator { return l.elements().Iterator() }

// Add implements traits.Adder.
func (l *unstructuredList) Add(other ref.Val) ref.Val {
	if converted, ok := l.convert().(traits.Lister); ok {
		return converted.Add(other)
	}
	return l.converted
}

// Equal implements ref.Val.
func (l *unstructuredList) Equal(other ref.Val) ref.Val {
	if _, ok := other.(traits.Lister); !ok {
		return types.False
	}
	return l.convert().Equal(other)
}

// ConvertToType implements ref.Val.
func (l *unstructuredList) ConvertToType(to ref.Type) ref.Val {
	if to == types.ListType {
		return l
	}
	return l.convert().ConvertToType(to)
}

// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"
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
	typed listValue
	// whole is the converted list, or an error; nil until it is needed.
	whole ref.Val
}

func (l *unstructuredList) convert() ref.Val {
	if l.whole == nil {
		l.whole = converted(&l.typed)
	}
	return l.whole
}

// elements returns the list to read elements from: the converted list, or the slice if it is
// not converted.
func (l *unstructuredList) elements() traits.Lister {
	if whole, ok := l.whole.(traits.Lister); ok {
		return whole
	}
	return &l.typed
}

// Get implements traits.Indexer.
func (l *unstructuredList) Get(index ref.Val) ref.Val {
	if i, ok := index.(types.Int); ok && i >= 0 && i < types.Int(l.typed.object.Len()) {
		return l.elements().Get(i)
	}
	if whole, ok := l.convert().(traits.Lister); ok {
		return whole.Get(index)
	}
	return l.whole
}

// Contains implements traits.Container.
func (l *unstructuredList) Contains(v ref.Val) ref.Val {
	elements := l.elements()
	for i := range l.typed.object.Len() {
		if v.Equal(elements.Get(types.Int(i))) == types.True {
			return types.True
		}
	}
	return types.False
}

// Size implements traits.Sizer.
func (l *unstructuredList) Size() ref.Val { return l.typed.Size() }

// IsZeroValue implements traits.Zeroer.
func (l *unstructuredList) IsZeroValue() bool { return l.typed.object.Len() == 0 }

// Iterator implements traits.Iterable.
func (l *unstructuredList) Iterator() traits.Iterator { return l.elements().Iterator() }

// Add implements traits.Adder.
func (l *unstructuredList) Add(other ref.Val) ref.Val {
	if whole, ok := l.convert().(traits.Lister); ok {
		return whole.Add(other)
	}
	return l.whole
}

// Equal implements ref.Val.
func (l *unstructuredList) Equal(other ref.Val) ref.Val {
	if _, ok := other.(traits.Lister); !ok {
		return types.False
	}
	return l.convert().Equal(other)
}

// Type implements ref.Val.
func (l *unstructuredList) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (l *unstructuredList) Value() any { return l.convert().Value() }

// ConvertToType implements ref.Val.
func (l *unstructuredList) ConvertToType(to ref.Type) ref.Val {
	if to == types.ListType {
		return l
	}
	return l.convert().ConvertToType(to)
}

// ConvertToNative implements ref.Val.
func (l *unstructuredList) ConvertToNative(to reflect.Type) (any, error) {
	return l.convert().ConvertToNative(to)
}

// String implements fmt.Stringer.
func (l *unstructuredList) String() string { return fmt.Sprint(l.convert()) }

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

var _ traits.Lister = (*listValue)(nil)

// A listValue is the view of a slice.
type listValue struct {
	elem   *plan
	object reflect.Value
	// children caches the elements that were read. It is nil until the first is read.
	children []ref.Val
}

// Len returns the number of elements. With At, it implements an interface of package evaluator.
func (l *listValue) Len() int { return l.object.Len() }

// At returns an element without a CEL value for the index.
func (l *listValue) At(i int) ref.Val { return l.child(i) }

// together is the length up to which a list allocates the views of all its structs at once, instead
// of each when it is read. A policy mostly reads all elements of a short list, such as the
// containers of a pod.
const together = 8

func (l *listValue) child(i int) ref.Val {
	if l.children == nil {
		l.children = make([]ref.Val, l.object.Len())
		if l.elem.form == formStruct && !l.elem.set.unstructured && len(l.children) <= together {
			views := make([]structValue, len(l.children))
			for i := range views {
				views[i].plan, views[i].object = l.elem, l.object.Index(i)
				l.children[i] = &views[i]
			}
		}
	}
	if l.children[i] == nil {
		l.children[i] = l.elem.value(l.object.Index(i))
	}
	return l.children[i]
}

// Get implements traits.Indexer. Like lists of Kubernetes' conversion, and unlike lists of cel-go,
// it accepts no index of type uint or double.
func (l *listValue) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index type: %T", index)
	}
	if i < 0 || i >= types.Int(l.object.Len()) {
		return types.NewErr("index out of bounds: %d", i)
	}
	return l.child(int(i))
}

// Size implements traits.Sizer.
func (l *listValue) Size() ref.Val { return types.Int(l.object.Len()) }

// Iterator implements traits.Iterable.
func (l *listValue) Iterator() traits.Iterator { return &elementIterator{Val: l, elements: l} }

// Contains implements traits.Container. Values that CEL cannot compare count as unequal.
func (l *listValue) Contains(v ref.Val) ref.Val {
	for i := range l.object.Len() {
		if l.child(i).Equal(v) == types.True {
			return types.True
		}
	}
	return types.False
}

// Equal implements ref.Val. Elements that CEL cannot compare count as unequal.
func (l *listValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if l.Size() != o.Size() {
		return types.False
	}
	for i := range l.object.Len() {
		if l.child(i).Equal(o.Get(types.Int(i))) != types.True {
			return types.False
		}
	}
	return types.True
}

// Add implements traits.Adder.
func (l *listValue) Add(other ref.Val) ref.Val { return concatenate(l, other) }

// Type implements ref.Val.
func (l *listValue) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (l *listValue) Value() any { return l.object.Interface() }

// ConvertToType implements ref.Val.
func (l *listValue) ConvertToType(to ref.Type) ref.Val { return convertToType(l, types.ListType, to) }

// ConvertToNative implements ref.Val. For every slice type, it returns the Go slice of the view
// unchanged, whatever the element types are, as Kubernetes' conversion does. It also converts to
// JSON, and returns an error for other types.
func (l *listValue) ConvertToNative(to reflect.Type) (any, error) {
	if to == jsonValueType {
		return jsonValue(l.object)
	}
	if to.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", types.ListType, to)
	}
	return l.Value(), nil
}

// concatenate returns the sum of two lists.
func concatenate(l traits.Lister, other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, append(elementsOf(l), elementsOf(o)...))
}

// elementsOf returns a new slice of the elements of a list.
func elementsOf(list traits.Lister) []ref.Val {
	var elements []ref.Val
	if size, ok := list.Size().(types.Int); ok {
		elements = make([]ref.Val, 0, size)
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		elements = append(elements, it.Next())
	}
	return elements
}

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

var _ traits.Lister = (*schemaList)(nil)

// A schemaList is the view of an unstructured list with a schema of type array.
type schemaList struct {
	*layout
	elements []any
	// children caches the elements that were read.
	children []ref.Val
}

// Len returns the number of elements. With At, it implements an interface of package evaluator.
func (l *schemaList) Len() int { return len(l.elements) }

// At returns an element without a CEL value for the index.
func (l *schemaList) At(i int) ref.Val { return l.child(i) }

func (l *schemaList) child(i int) ref.Val {
	if l.children == nil {
		l.children = make([]ref.Val, len(l.elements))
	}
	if v := l.children[i]; v != nil {
		return v
	}
	v := l.elem.Value(l.elements[i])
	// cel-go sets the position of an error when it first occurs, so each read needs its own.
	if !types.IsError(v) {
		l.children[i] = v
	}
	return v
}

// Get implements traits.Indexer. Like lists of Kubernetes' conversion, and unlike lists of cel-go,
// it accepts no index of type uint or double.
func (l *schemaList) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || i >= types.Int(len(l.elements)) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return l.child(int(i))
}

// Size implements traits.Sizer.
func (l *schemaList) Size() ref.Val { return types.Int(len(l.elements)) }

// Iterator implements traits.Iterable.
func (l *schemaList) Iterator() traits.Iterator { return &elementIterator{Val: l, elements: l} }

// Contains implements traits.Container.
func (l *schemaList) Contains(v ref.Val) ref.Val {
	if types.IsUnknownOrError(v) {
		return v
	}
	var failed ref.Val
	for i := range l.elements {
		switch equal := l.child(i).Equal(v).(type) {
		case types.Bool:
			if equal {
				return types.True
			}
		default:
			if failed == nil {
				failed = types.MaybeNoSuchOverloadErr(equal)
			}
		}
	}
	if failed != nil {
		return failed
	}
	return types.False
}

// Equal implements ref.Val.
func (l *schemaList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if l.Size() != o.Size() {
		return types.False
	}
	for i := range l.elements {
		if equal := l.child(i).Equal(o.Get(types.Int(i))); equal != types.True {
			return equal
		}
	}
	return types.True
}

// Add implements traits.Adder.
func (l *schemaList) Add(other ref.Val) ref.Val { return concatenate(l, other) }

// Type implements ref.Val.
func (l *schemaList) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (l *schemaList) Value() any { return l.elements }

// ConvertToType implements ref.Val.
func (l *schemaList) ConvertToType(to ref.Type) ref.Val { return convertToType(l, types.ListType, to) }

// ConvertToNative implements ref.Val. For every slice type, it returns the Go list itself, or a
// list of strings if the schema says so: functions such as join require that.
func (l *schemaList) ConvertToNative(to reflect.Type) (any, error) {
	if to.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", types.ListType, to)
	}
	if !l.stringItems {
		return l.elements, nil
	}
	var texts []string
	for _, element := range l.elements {
		text, ok := element.(string)
		if !ok {
			return nil, fmt.Errorf("expected all elements to be of type string, but got %T", element)
		}
		texts = append(texts, text)
	}
	return texts, nil
}
